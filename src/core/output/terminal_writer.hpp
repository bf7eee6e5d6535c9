#pragma once
#include <atomic>
#include <string_view>

#include "core/output/output_targets.hpp"
#include "core/output/prefixed_lines.hpp"

namespace trainrt {

/// Writes the output of a process to a terminal, or to any other descriptor such as a pipe. If the reader of the descriptor
/// is slow, the calling thread blocks. After the reader has closed its end, nothing more is written. Not thread-safe,
/// except for hurry().
class TerminalWriter {
 public:
  /// Writes output to the descriptor `fd`, which is not owned, unchanged or line by line with a prefix, as `targets`
  /// specifies.
  TerminalWriter(const OutputTargets& targets, int fd);
  void add(std::string_view bytes);
  /// Must be called at the end of the output. Also writes a last line that does not end with a newline.
  void finish();
  /// Limits further waiting: a reader that accepts nothing for 2 seconds is then treated as closed. Thread-safe.
  void hurry() { hurried_ = true; }

 private:
  void put(std::string_view bytes);
  bool can_take();

  OutputTargets::Terminal terminal_;
  int fd_;
  bool gone_ = false;
  std::atomic<bool> hurried_ = false;
  PrefixedLines lines_;
};

}  // namespace trainrt
