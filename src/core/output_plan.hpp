#pragma once
#include <string>

#include <unistd.h>

namespace trainrt {

/// The ranks whose output the terminal shows, besides the file that each rank's goes into.
enum class ShownOutput { first_rank, all_ranks, none };

/// Where the output of a rank goes.
struct OutputPlan {
  enum class Terminal {
    nothing,
    bytes,  ///< as they come
    lines,  ///< one by one, each behind `prefix`
  };
  std::string log;  ///< path of the file that all of it is appended to; "": no file
  Terminal terminal = Terminal::nothing;
  std::string prefix;
  int out = STDOUT_FILENO;    ///< where the terminal gets what was written to standard output; not owned
  int error = STDERR_FILENO;  ///< and to standard error
  /// Both lead to the same place, or to none: then one pipe carries both streams, in the order of their writes.
  bool is_one_stream() const;
};

/// The file of a rank's output, in the run directory: "logs/rank-00003.log".
std::string rank_log_name(int rank);

/// The plan for a rank of a run.
OutputPlan output_plan(ShownOutput shown, const std::string& run_dir, int rank);

}  // namespace trainrt
