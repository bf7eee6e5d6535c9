#pragma once
#include <string_view>

namespace trainrt::view {

/// Returns the CSS style sheet for SVG files: charts/chart.css, with its color variables replaced by the light colors
/// of page.css. The style sheet is compiled into the program.
std::string_view chart_style();

}  // namespace trainrt::view
