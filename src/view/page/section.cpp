#include "view/page/section.hpp"

#include "view/charts/svg_chart.hpp"

namespace trainrt::view::page {

Markup PageCharts::add(const Chart& chart) {
  constexpr double width = 480, height = 250;  // page.css shows charts at a width of 440 pixels or more
  const SvgOptions options{.width = width, .height = height + legend_height(chart, width)};
  auto content = element("div", {{"class", "chart"}}, svg_chart(chart, options));
  if (!chart.note.empty()) content += paragraph(chart.note, "note");
  const auto number = charts_.size();
  charts_.push_back(view::as_json(chart));
  return element("figure", {{"data-chart", std::to_string(number)}}, content);
}

Markup heading(const std::string& title) { return element("h3", {}, title); }

Markup paragraph(const std::string& shown, const std::string& css_class) {
  return element("p", css_class.empty() ? Attributes{} : Attributes{{"class", css_class}}, shown);
}

Markup state_label(rundir::RunState state) {
  const std::string name(rundir::word_of(state));
  return element("span", {{"class", "state " + name}}, name);
}

}  // namespace trainrt::view::page
