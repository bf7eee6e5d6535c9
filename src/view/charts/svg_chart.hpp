#pragma once
#include <cstddef>
#include <span>
#include <string>

#include "view/charts/chart.hpp"
#include "view/charts/markup.hpp"

namespace trainrt::view {

struct SvgOptions {
  double width = 640, height = 400;  ///< in pixels, including title, axes and legend
  double x = 0, y = 0;               ///< position of the chart in the SVG document, in pixels
  bool log_x = false, log_y = false;
};

/// Returns a chart as an <svg> element. charts/chart.css styles its elements by their CSS classes. The script of the
/// page finds the elements to redraw by the same classes. Long series are thinned. Pure function.
Markup svg_chart(const Chart& chart, const SvgOptions& options);

/// Returns the height of the legend of `chart`, in pixels, in a picture that is `width` pixels wide.
double legend_height(const Chart& chart, double width);

/// The text and the size of an SVG file.
struct SvgDocument {
  std::string text;
  std::size_t width = 0, height = 0;  ///< in pixels
};

/// Returns an SVG file with all charts, in two columns if there are several charts. A `width` or `height` of 0 gives
/// each chart its default width or height. Throws UsageError if the charts do not fit into `width` and `height`.
SvgDocument svg_document(std::span<const Chart> charts, std::size_t width, std::size_t height, bool log_x, bool log_y);

}  // namespace trainrt::view
