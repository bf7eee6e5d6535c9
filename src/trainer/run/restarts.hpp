#pragma once
#include <trainrt/communicator.hpp>

#include "comm/agreement.hpp"

namespace trainrt {
class Session;
}

namespace trainrt::trainer {

/// Error of an attempt that failed on all ranks at the same point. The failed attempt no longer runs on any rank, so the
/// ranks can start another attempt in the same processes. Thrown on all ranks.
class FailedTogether : public comm::AgreedError {
 public:
  using AgreedError::AgreedError;
};

/// Counts the failures of a run within an allocation, and compares the count with config key failure.max_failures. The
/// count begins with the failures that the parent process has counted (environment variable TRAINRT_FAILURES).
class Restarts {
 public:
  /// `max_failures` is the value of config key failure.max_failures. All ranks use the initial count of rank 0. Collective.
  Restarts(int max_failures, Communicator& communicator);

  /// Counts `failure`. Logs a warning and returns if another attempt may start. Throws AgreedError with the message of
  /// `failure` if a restart cannot help or the limit is reached.
  void count(const FailedTogether& failure);
  /// Returns the number of seconds that the next attempt waits before it calls the train function. The pause is 0 after the
  /// first failure of this process, and grows with each further failure.
  double pause_s() const;

 private:
  [[noreturn]] void give_up(const FailedTogether& failure) const;

  int max_failures_;
  int failures_;
  int own_failures_ = 0;     ///< failures of this process, which are included in `failures_`
  bool is_watched_ = false;  ///< whether the parent process also counts failures, and logs when the limit is reached
};

/// Waits for `seconds`. Calls Session::stop_point() at regular intervals, which throws StopRun if a stop was requested.
/// Collective.
void wait_to_restart(double seconds, Session& session);

}  // namespace trainrt::trainer
