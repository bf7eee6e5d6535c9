#pragma once
#include "view/page/section.hpp"
#include "view/summary/run_summary.hpp"

namespace trainrt::view::page {

/// Returns a table of the checkpoints, and by attempt the time in which saves stopped the training.
Section checkpoint_section(const RunSummary& run);

}  // namespace trainrt::view::page
