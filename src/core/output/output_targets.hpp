#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include <unistd.h>

namespace trainrt {

/// The ranks that the terminal shows the output of. The output of each rank is also written to a file.
enum class ShownOutput { first_rank, all_ranks, none };

/// The destinations of the standard output and standard error of a process.
struct OutputTargets {
  enum class Terminal {
    nothing,
    bytes,  ///< unchanged
    lines,  ///< line by line, each after `prefix`
  };
  std::string log;         ///< path of the file that both streams are appended to; "": no file
  bool holds_log = false;  ///< the path is not known yet; OutputTee::switch_file() sets it
  Terminal terminal = Terminal::nothing;
  std::string prefix;
  int out = STDOUT_FILENO;    ///< descriptor that shows the standard output; not owned
  int error = STDERR_FILENO;  ///< the same for standard error
  /// Called with all bytes as they are read: `stream` is 0 for standard output and 1 for standard error; 0 for both if
  /// is_one_stream(). Must neither throw nor block.
  std::function<void(std::size_t stream, std::string_view bytes)> listener;
  /// Returns whether both streams are shown in the same place, or nowhere. Then one pipe carries both, which keeps the
  /// order of their writes.
  bool is_one_stream() const;
};

/// Returns the path of a rank's log file in the run directory: "logs/rank-00003.log".
std::string rank_log_name(int rank);

/// Returns the targets for the output of rank `rank` of a run.
OutputTargets output_targets(ShownOutput shown, const std::string& run_dir, int rank);

}  // namespace trainrt
