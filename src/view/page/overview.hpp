#pragma once
#include "view/page/markup.hpp"
#include "view/summary/run_summary.hpp"

namespace trainrt::view::page {

/// The head of a run's page: its name, state, where it lies, and how far it came.
Markup overview_of(const RunSummary& run);

}  // namespace trainrt::view::page
