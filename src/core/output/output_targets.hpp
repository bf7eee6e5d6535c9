#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

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
  std::string log;         ///< path of the file that all of it is appended to; "": no file
  bool holds_log = false;  ///< the file is not known yet: OutputReader::lead_to() says it
  Terminal terminal = Terminal::nothing;
  std::string prefix;
  int out = STDOUT_FILENO;    ///< where the terminal gets what was written to standard output; not owned
  int error = STDERR_FILENO;  ///< and to standard error
  /// Gets all of it too, as it is read: of standard output (0) or standard error (1); of both as 0 if is_one_stream(). Must
  /// neither throw nor wait.
  std::function<void(std::size_t stream, std::string_view bytes)> listener;
  /// Both lead to the same place, or to none: then one pipe carries both streams, in the order of their writes.
  bool is_one_stream() const;
};

/// The file of a rank's output, in the run directory: "logs/rank-00003.log".
std::string rank_log_name(int rank);

/// The plan for a rank of a run.
OutputPlan output_plan(ShownOutput shown, const std::string& run_dir, int rank);

}  // namespace trainrt
