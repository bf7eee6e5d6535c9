#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "view/summary/run_summary.hpp"

namespace trainrt::view {

/// The last lines of a file that describes a failure.
struct FailureExcerpt {
  std::string file;  ///< relative to the run directory: "logs/crash-attempt-000003-rank-00002.txt"
  std::string text;
  bool is_cut = false;  ///< whether the file is longer than `text`
};

/// Reads the last lines of error.txt, of the crash and hang reports of failed attempts (the newest attempt first), and of
/// the output of ranks (logs/rank-00003.log) if the newest attempt failed. Returns at most `max_files` files; files that
/// cannot be read are left out.
std::vector<FailureExcerpt> failure_excerpts(const RunSummary& run, std::size_t max_files = 12);

}  // namespace trainrt::view
