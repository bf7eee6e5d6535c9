#pragma once
#include <string_view>

namespace trainrt::view {

/// Returns charts/chart.css with the light colors of the page (page.css), for SVG files. It is compiled in.
std::string_view chart_style();

}  // namespace trainrt::view
