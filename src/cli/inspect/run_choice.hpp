#pragma once
#include <string>
#include <vector>

#include "view/summary/run_summary.hpp"

namespace trainrt::cli {

/// The runs of the words, each of which is a run directory or a folder of such: a storage path, or a sweep. A run in a
/// folder that cannot be read is warned of and left out; UsageError if a word has none.
std::vector<view::RunSummary> runs_of(const std::vector<std::string>& words);

}  // namespace trainrt::cli
