#pragma once
#include <atomic>
#include <string_view>

#include "core/output/output_targets.hpp"
#include "core/output/prefixed_lines.hpp"

namespace trainrt {

/// Passes an output on to a terminal, or to whoever reads this process's own output there. A reader that is slow slows the
/// writer down, as it does without this in between; one that has gone is written to no more. One thread at a time, but for
/// hurry().
class OutputView {
 public:
  /// To `fd`, which is not owned.
  OutputView(const OutputPlan& plan, int fd);
  void add(std::string_view bytes);
  /// The output is at its end.
  void finish();
  /// From now on whoever reads has seconds to go on reading, not any time: then it is taken to have gone. Any thread.
  void hurry() { hurried_ = true; }

 private:
  void put(std::string_view bytes);
  bool can_take();

  OutputPlan::Terminal terminal_;
  int fd_;
  bool gone_ = false;
  std::atomic<bool> hurried_ = false;
  OutputLines lines_;
};

}  // namespace trainrt
