#pragma once
#include <string>

#include "view/charts/svg_chart.hpp"

namespace trainrt::view {

enum class ImageFormat { png, pdf };

/// Returns `document` as a PNG or PDF file. librsvg and Cairo, which convert it, are loaded at the first call, and not
/// linked. Throws UsageError, which names the package to install, if they are missing, and Error if they fail.
std::string convert_svg(const SvgDocument& document, ImageFormat format);

}  // namespace trainrt::view
