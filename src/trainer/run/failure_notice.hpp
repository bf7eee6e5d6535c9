#pragma once
#include <string>
#include <thread>

#include <trainrt/callback.hpp>

#include "trainer/events/callbacks.hpp"

namespace trainrt::trainer {

// The failure notice: a file in the attempt's private directory, by which a rank that fails alone notifies rank 0 before it
// ends the job step. A collective cannot do this, because rank 0's train thread may execute anything at that moment.

/// Writes the failure notice, and waits at most 5 s until rank 0 has notified its callbacks. Errors are only logged.
void notify_rank_zero(const std::string& private_dir, const RunFailure& failure) noexcept;

/// A thread on rank 0 that waits for the failure notice and notifies the callbacks.
class FailureListener {
 public:
  /// `callbacks` must outlive this object.
  FailureListener(const std::string& private_dir, const Callbacks& callbacks);

 private:
  std::jthread thread_;
};

}  // namespace trainrt::trainer
