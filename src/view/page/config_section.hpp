#pragma once
#include "view/page/section.hpp"
#include "view/summary/last_words.hpp"
#include "view/summary/run_summary.hpp"

namespace trainrt::view::page {

/// The config as run.json has it, what changed in it between attempts, and which trainrt made the page.
Section config_section(const RunSummary& run);

/// The ends of the files that tell of failures.
Section failure_section(const std::vector<LastWords>& words);

}  // namespace trainrt::view::page
