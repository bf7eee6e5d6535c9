#pragma once
#include <string>
#include <thread>

#include <trainrt/callback.hpp>

#include "trainer/events/callbacks.hpp"

namespace trainrt::trainer {

// The failure notice is a file in the attempt's private directory. A rank that fails alone writes the file to notify rank
// 0, and then ends the job step. A collective cannot be used, since rank 0's train thread may be busy at that moment.

/// Writes the failure notice, and waits at most 5 s until rank 0 has notified the callbacks. Errors are only logged.
void notify_rank_zero(const std::string& private_dir, const RunFailure& failure) noexcept;

/// Owns a thread on rank 0 that waits for the failure notice and then notifies the callbacks of the failure.
class FailureListener {
 public:
  /// `callbacks` must outlive this object.
  FailureListener(const std::string& private_dir, const Callbacks& callbacks);

 private:
  std::jthread thread_;
};

}  // namespace trainrt::trainer
