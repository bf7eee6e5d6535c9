#pragma once
#include <string>
#include <vector>

#include "view/summary/run_summary.hpp"

namespace trainrt::cli {

/// The runs in a folder, such as a storage path or the folder of a sweep.
struct FolderRuns {
  std::vector<view::RunSummary> runs;
  bool all_readable = true;  ///< false: at least one run could not be read, for which a warning was logged
};

/// Reads all runs in `folder`. Throws UsageError if it contains no run directory.
FolderRuns read_folder(const std::string& folder);

/// Reads the runs that the words of a command line name; each word is a run directory, or a folder for read_folder().
std::vector<view::RunSummary> read_runs(const std::vector<std::string>& words);

}  // namespace trainrt::cli
