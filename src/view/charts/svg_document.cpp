#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "view/charts/chart_style.hpp"
#include "view/charts/svg_chart.hpp"

namespace trainrt::view {

SvgDocument svg_document(std::span<const Chart> charts, std::size_t width, std::size_t height, bool log_x, bool log_y) {
  constexpr std::size_t min_width = 200, min_height = 140;
  const SvgOptions defaults;
  const std::size_t columns = charts.size() > 1 ? 2 : 1, rows = (charts.size() + columns - 1) / columns;
  if (width == 0) width = columns * static_cast<std::size_t>(defaults.width);
  if (height == 0) height = rows * static_cast<std::size_t>(defaults.height);
  if (width < columns * min_width || height < rows * min_height)
    throw UsageError(fmt::format("a picture of {} x {} pixels is too small for {} charts, which need at least {} x {}",
                                 width, height, charts.size(), columns * min_width, rows * min_height));
  SvgOptions options{.width = static_cast<double>(width) / static_cast<double>(columns),
                     .height = static_cast<double>(height) / static_cast<double>(rows),
                     .log_x = log_x,
                     .log_y = log_y};
  auto content = element("rect", {{"class", "paper"}, {"width", "100%"}, {"height", "100%"}});
  for (std::size_t i = 0; i < charts.size(); ++i) {
    options.x = options.width * static_cast<double>(i % columns);
    options.y = options.height * static_cast<double>(i / columns);
    content += svg_chart(charts[i], options);
  }
  const auto text = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
      "viewBox=\"0 0 {0} {1}\" font-family=\"sans-serif\"><style>{2}</style>{3}</svg>\n",
      width, height, chart_style(), content.str());
  return {text, width, height};
}

}  // namespace trainrt::view
