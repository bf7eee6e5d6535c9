#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "view/summary/run_summary.hpp"

namespace trainrt::view {

/// The end of a file that tells of a failure.
struct LastWords {
  std::string file;  ///< in the run directory: "logs/crash-attempt-000003-rank-00002.txt"
  std::string text;
  bool is_cut = false;  ///< it is the end of a longer one
};

/// error.txt, then of the attempts that failed, newest first, the reports of crashes and hangs, and if the newest failed
/// the output of ranks (logs/rank-00003.log): `most` of them, and the last lines of each. What cannot be read is left out.
std::vector<LastWords> last_words_of(const RunSummary& run, std::size_t most = 12);

}  // namespace trainrt::view
