#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include <unistd.h>

namespace trainrt {

/// Selects the ranks of which the terminal shows the output. The output of each rank is also written to a log file.
enum class ShownOutput { first_rank, all_ranks, none };

/// The destinations of standard output and standard error of a process: a log file, a terminal and a callback.
struct OutputTargets {
  enum class Terminal {
    nothing,
    bytes,  ///< the terminal shows the output unchanged
    lines,  ///< the terminal shows the output line by line, each line after `prefix`
  };
  std::string log;  ///< path of the log file that both streams are appended to; "": no log file
  /// If true, the path of the log is not known yet; the output is buffered until OutputTee::switch_file() sets the path.
  bool holds_log = false;
  Terminal terminal = Terminal::nothing;
  std::string prefix;
  int out = STDOUT_FILENO;    ///< descriptor that the standard output is shown on; not owned
  int error = STDERR_FILENO;  ///< descriptor that standard error is shown on; not owned
  /// Called with all output as it is read. `stream` is 0 for standard output and 1 for standard error; if is_one_stream(),
  /// it is 0 for both. Must neither throw nor block.
  std::function<void(std::size_t stream, std::string_view bytes)> listener;
  /// Returns whether standard output and standard error go to the same terminal or file, or neither is shown. If true, one
  /// pipe carries both, which preserves the order of their writes.
  bool is_one_stream() const;
};

/// Returns the path of a rank's log file, relative to the run directory: "logs/rank-00003.log".
std::string rank_log_name(int rank);

/// Returns the destinations of the output of rank `rank`: the rank's log file in `run_dir`, and the terminal if `shown`
/// includes the rank.
OutputTargets output_targets(ShownOutput shown, const std::string& run_dir, int rank);

}  // namespace trainrt
