#pragma once
#include <string>

#include "view/charts/svg_chart.hpp"

namespace trainrt::view {

enum class ImageFormat { png, pdf };

/// Converts `document`, and returns the content of the PNG or PDF file. The first call loads librsvg and Cairo; the
/// program is not linked to them. Throws UsageError, which names the package to install, if a library is missing, and
/// Error if the conversion fails.
std::string convert_svg(const SvgDocument& document, ImageFormat format);

}  // namespace trainrt::view
