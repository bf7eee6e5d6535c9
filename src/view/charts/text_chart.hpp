#pragma once
#include <cstddef>
#include <string>

#include "view/charts/chart.hpp"

namespace trainrt::view {

struct TextChartOptions {
  std::size_t columns = 80, rows = 22;  ///< maximum size, including title, axes and legend
  bool log_x = false, log_y = false;
  bool in_color = false;  ///< whether the chart is colored by terminal control sequences
};

/// Returns a chart drawn in ASCII characters. Each line ends with a newline. Each series has its own character; ^ marks
/// a restart, and * marks the best report. Faint series are left out. Pure function.
std::string text_chart(const Chart& chart, const TextChartOptions& options);

}  // namespace trainrt::view
