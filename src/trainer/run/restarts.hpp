#pragma once
#include <trainrt/communicator.hpp>

#include "comm/agreement.hpp"

namespace trainrt {
class Session;
}

namespace trainrt::trainer {

/// An attempt failed on all ranks at the same point, nothing of it runs any more, and they can begin another without a new
/// start of their processes. A train function throws it on all ranks.
class FailedTogether : public comm::AgreedError {
 public:
  using AgreedError::AgreedError;
};

/// Counts the failures of an allocation, those included that whoever started the ranks has counted (TRAINRT_FAILURES), so
/// that all who restart share failure.max_failures.
class Restarts {
 public:
  /// `most`: failure.max_failures. Collective: rank 0's count holds for all.
  Restarts(int most, Communicator& communicator);

  /// After a failure: returns if another attempt may begin, and throws the failure with the reason if not: a restart does
  /// not help, or there were too many. Rank 0 says
  /// which.
  void count(const FailedTogether& failure);
  /// How long the next attempt waits before it calls the train function: not at all after the first failure, then longer
  /// each time. Seconds.
  double pause_s() const;

 private:
  [[noreturn]] void give_up(const FailedTogether& failure) const;

  int most_;
  int failures_;
  int here_ = 0;             ///< of them, those of this process
  bool is_watched_ = false;  ///< whoever started the ranks counts as well, and says what it gives up
};

/// Waits so long before the train function is called. A stop that is asked for meanwhile is obeyed. All ranks look equally
/// often: collective.
void wait_to_restart(double seconds, Session& session);

}  // namespace trainrt::trainer
