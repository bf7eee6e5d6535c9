#pragma once
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "rundir/records/run_state.hpp"
#include "view/page/chart.hpp"
#include "view/page/markup.hpp"

namespace trainrt::view::page {

/// A part of the page with a heading, which the links at its top lead to.
struct Section {
  std::string id, title;
  Markup content;  ///< empty: there is nothing to show, and no section
};

/// What the scripts get to draw. A figure finds its chart by its number.
class Drawings {
 public:
  Markup add(Chart chart) {
    charts_.push_back(std::move(chart));
    return figure_of(charts_.back(), charts_.size() - 1);
  }
  const std::vector<Chart>& charts() const { return charts_; }

 private:
  std::vector<Chart> charts_;
};

Markup heading(const std::string& title);
Markup paragraph(const std::string& text, const std::string& kind = "");

/// A state in its colour.
Markup state_mark(rundir::RunState state);

}  // namespace trainrt::view::page
