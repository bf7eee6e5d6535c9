#pragma once
#include "view/page/section.hpp"
#include "view/summary/failure_excerpts.hpp"
#include "view/summary/run_summary.hpp"

namespace trainrt::view::page {

/// Returns the config in run.json, its changes between attempts, and the version of trainrt.
Section config_section(const RunSummary& run);

/// Returns the ends of the files about failures.
Section failure_section(const std::vector<FailureExcerpt>& excerpts);

}  // namespace trainrt::view::page
