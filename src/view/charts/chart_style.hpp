#pragma once
#include <string_view>

namespace trainrt::view {

/// Returns the style of SVG files: charts/chart.css, in which the light colors of page.css replace its variables. It is
/// compiled in.
std::string_view chart_style();

}  // namespace trainrt::view
