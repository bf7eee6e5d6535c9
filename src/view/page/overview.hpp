#pragma once
#include "view/charts/markup.hpp"
#include "view/summary/run_summary.hpp"

namespace trainrt::view::page {

/// Returns the head of the page of a run: name, state, path, progress and totals.
Markup overview_of(const RunSummary& run);

}  // namespace trainrt::view::page
