#pragma once
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "rundir/records/run_state.hpp"
#include "view/charts/chart.hpp"
#include "view/charts/markup.hpp"

namespace trainrt::view::page {

/// A section of the page, with a heading. The top of the page has a link to each section.
struct Section {
  std::string id, title;
  Markup content;  ///< if empty, the section is left out
};

/// The charts of a page, which the script of the page reads. A <figure> refers to its chart by the chart's number.
class PageCharts {
 public:
  /// Adds a chart, and returns a <figure> with its picture.
  Markup add(const Chart& chart);
  /// Returns all charts as JSON, in order of their numbers.
  const nlohmann::ordered_json& as_json() const { return charts_; }

 private:
  nlohmann::ordered_json charts_ = nlohmann::ordered_json::array();
};

Markup heading(const std::string& title);
/// Returns a <p> element. `css_class` may be empty.
Markup paragraph(const std::string& text, const std::string& css_class = "");

/// Returns the name of a state in the state's color.
Markup state_label(rundir::RunState state);

}  // namespace trainrt::view::page
