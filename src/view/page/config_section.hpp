#pragma once
#include "view/page/section.hpp"
#include "view/summary/failure_excerpts.hpp"
#include "view/summary/run_summary.hpp"

namespace trainrt::view::page {

/// Returns a section with the config in run.json, the changes of the config between attempts, and the version of
/// trainrt.
Section config_section(const RunSummary& run);

/// Returns a section with the last lines of files that describe failures.
Section failure_section(const std::vector<FailureExcerpt>& excerpts);

}  // namespace trainrt::view::page
