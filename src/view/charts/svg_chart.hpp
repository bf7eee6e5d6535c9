#pragma once
#include <cstddef>
#include <span>
#include <string>

#include "view/charts/chart.hpp"
#include "view/charts/markup.hpp"

namespace trainrt::view {

struct SvgOptions {
  double width = 640, height = 400;  ///< in pixels, with title, axes and legend
  double x = 0, y = 0;               ///< position in a document
  bool log_x = false, log_y = false;
};

/// Returns a chart as an <svg> element, which is styled by classes of charts/chart.css. The script of a page finds the
/// parts to draw again by their classes. Long series are thinned. Pure function.
Markup svg_chart(const Chart& chart, const SvgOptions& options);

/// Returns the height of the legend of `chart` in a picture of that width, in pixels.
double legend_height(const Chart& chart, double width);

/// An SVG file.
struct SvgDocument {
  std::string text;
  std::size_t width = 0, height = 0;  ///< in pixels
};

/// Returns a file with all charts, in two columns if there are several. A `width` or `height` of 0 gives each chart its
/// default size. Throws UsageError if the charts do not fit into `width` and `height`.
SvgDocument svg_document(std::span<const Chart> charts, std::size_t width, std::size_t height, bool log_x, bool log_y);

}  // namespace trainrt::view
