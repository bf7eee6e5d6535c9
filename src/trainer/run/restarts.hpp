#pragma once
#include <trainrt/communicator.hpp>

#include "comm/agreement.hpp"

namespace trainrt {
class Session;
}

namespace trainrt::trainer {

/// An attempt failed on all ranks at the same point. Nothing of it is still running, so the ranks can start another attempt
/// without restarting their processes. A train function throws this error on all ranks.
class FailedTogether : public comm::AgreedError {
 public:
  using AgreedError::AgreedError;
};

/// Counts the failures of a run within an allocation against the limit failure.max_failures. The count starts with the
/// failures that the parent process has counted (environment variable TRAINRT_FAILURES), which shares the limit.
class Restarts {
 public:
  /// `max_failures`: value of failure.max_failures. All ranks use the count of rank 0. Collective.
  Restarts(int max_failures, Communicator& communicator);

  /// Counts a failure. Returns if another attempt may start, which rank 0 logs. Otherwise throws AgreedError with the
  /// failure and the reason: a restart cannot help, or the limit is reached.
  void count(const FailedTogether& failure);
  /// Returns the number of seconds that the next attempt waits before it calls the train function: 0 after the first
  /// failure of this process, then longer after each.
  double pause_s() const;

 private:
  [[noreturn]] void give_up(const FailedTogether& failure) const;

  int max_failures_;
  int failures_;
  int own_failures_ = 0;     ///< failures of this process, which are included in `failures_`
  bool is_watched_ = false;  ///< the parent process counts failures, too, and logs when it gives up
};

/// Waits, and obeys stop requests meanwhile. All ranks check for stop requests equally often. Collective.
void wait_to_restart(double seconds, Session& session);

}  // namespace trainrt::trainer
