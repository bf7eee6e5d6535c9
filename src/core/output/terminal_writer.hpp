#pragma once
#include <atomic>
#include <string_view>

#include "core/output/output_targets.hpp"
#include "core/output/prefixed_lines.hpp"

namespace trainrt {

/// Writes an output to a terminal, or to another reader of a descriptor. A slow reader blocks the writer, as it would
/// without this class; nothing more is written after the reader has closed its end. One thread at a time may use an object,
/// except for hurry().
class TerminalWriter {
 public:
  /// Writes to `fd`, which is not owned, in the form that `targets` specifies.
  TerminalWriter(const OutputTargets& targets, int fd);
  void add(std::string_view bytes);
  /// Writes the rest of the output.
  void finish();
  /// Limits further waits: a reader that accepts nothing for 2 seconds counts as gone. Any thread may call it.
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
