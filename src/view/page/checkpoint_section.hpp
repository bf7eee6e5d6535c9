#pragma once
#include "view/page/section.hpp"
#include "view/summary/run_summary.hpp"

namespace trainrt::view::page {

/// Returns a section with a table of the checkpoints and, for each attempt, the time in which saves stopped the
/// training.
Section checkpoint_section(const RunSummary& run);

}  // namespace trainrt::view::page
