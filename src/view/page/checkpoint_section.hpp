#pragma once
#include "view/page/section.hpp"
#include "view/summary/run_summary.hpp"

namespace trainrt::view::page {

/// The checkpoints that are kept, and what saves cost the training in each attempt.
Section checkpoint_section(const RunSummary& run);

}  // namespace trainrt::view::page
