#pragma once
#include <cstddef>
#include <string>

#include "view/charts/chart.hpp"

namespace trainrt::view {

struct TextChartOptions {
  std::size_t columns = 80, rows = 22;  ///< at most, with title, axes and legend
  bool log_x = false, log_y = false;
  bool in_color = false;  ///< by terminal control sequences
};

/// Returns a chart drawn in ASCII characters, as lines that end with a newline: a character for each series, ^ for a
/// restart, * for the best report. Faint series are left out. Pure function.
std::string text_chart(const Chart& chart, const TextChartOptions& options);

}  // namespace trainrt::view
