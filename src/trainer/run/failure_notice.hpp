#pragma once
#include <string>
#include <thread>

#include <trainrt/callback.hpp>

#include "trainer/events/callbacks.hpp"

namespace trainrt::trainer {

// A rank that fails alone tells rank 0, whose train thread may be anywhere, before it ends the step: by a file in the
// private directory of their attempt.

/// Leaves the notice, and waits until rank 0 has told its callbacks, 5 s at most. Whatever goes wrong is only said.
void leave_notice(const std::string& private_dir, const RunFailure& failure) noexcept;

/// Rank 0's: looks for a notice in a thread of its own as long as it lives, and tells the callbacks.
class FailureListener {
 public:
  /// `callbacks` live longer.
  FailureListener(const std::string& private_dir, const Callbacks& callbacks);

 private:
  std::jthread thread_;
};

}  // namespace trainrt::trainer
