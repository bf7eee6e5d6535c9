#pragma once
#include <string>

#include <trainrt/communicator.hpp>

#include "comm/agreement.hpp"
#include "config/run_spec.hpp"
#include "core/rank_zero.hpp"

namespace trainrt {
class Session;
}

namespace trainrt::trainer {

/// Error of an attempt that failed on all ranks at the same point. The failed attempt no longer runs on any rank, so the
/// ranks can start another attempt in the same processes. Thrown on all ranks.
class FailedTogether : public comm::AgreedError {
 public:
  using AgreedError::AgreedError;

  /// Text by which failures are compared: two failures of all ranks with the same error have the same text. "" if it is
  /// unknown whether all ranks failed.
  std::string signature = {};
  bool is_permanent = false;  ///< all ranks have an error that a restart cannot fix, such as a missing module
  std::string brief = {};     ///< the message without lines that the terminal has shown; "": the complete message
  bool is_early = false;      ///< the run failed before its first step or report; the trainer sets it
};

/// Records in the newest attempt of `run_dir` that a restart is useless, because it would fail in the same way. Returns
/// the exit code for all ranks: `code`, which together with the record prevents restarts. If rank 0 cannot write the
/// record, for example on full storage, returns ExitCode::no_progress, which prevents restarts without the record.
/// Collective.
ExitCode code_without_restart(const std::string& run_dir, ExitCode code, Communicator& communicator);

/// Counts the failures of a run within an allocation, and compares the count with config key failure.max_failures. The
/// count begins with the failures that the parent process has counted (environment variable TRAINRT_FAILURES).
class Restarts {
 public:
  /// The limit is failure.max_failures of `spec`. Both arguments must outlive this object. All ranks use the initial count
  /// of rank 0. Collective.
  Restarts(const config::RunSpec& spec, Communicator& communicator);

  /// Counts `failure`. If another attempt may start, logs a warning, announces the start of the next attempt in the
  /// record of the newest attempt, and returns. Otherwise throws AgreedError with the message of `failure`. No other
  /// attempt may start
  /// - if the limit is reached
  /// - after an invalid config
  /// - before the first step, after a permanent error or after the same error twice in a row
  /// - after the train function has made the same mistake twice at the same step (rundir::repeats_mistake())
  ///
  /// In the last two cases, processes that supervise this one must not restart the run either: see
  /// code_without_restart(). Collective.
  void count(const FailedTogether& failure);
  /// Returns the number of seconds that the next attempt waits before it calls the train function. The pause is 0 after the
  /// first failure of this process, and grows with each further failure. It is also 0 if the attempt has made a copy of its
  /// State in memory.
  double pause_s() const;

 private:
  std::string last_line(const FailedTogether& failure) const;
  [[noreturn]] void give_up(const FailedTogether& failure) const;
  void require_other_error(const FailedTogether& failure);
  void require_other_mistake(const FailedTogether& failure);

  const config::RunSpec& spec_;
  Communicator& communicator_;
  RankZero rank_zero_;
  int failures_;
  bool may_have_trained_ = false;  ///< a failure was not early (FailedTogether::is_early)
  std::string last_signature_;     ///< FailedTogether::signature of the last failure
  int own_failures_ = 0;           ///< failures of this process since its last attempt with a copy of the State in memory
  bool is_watched_ = false;        ///< whether the parent process also counts failures, and logs when the limit is reached
  bool is_in_fit_ = false;         ///< whether `fit()` in a script has launched the ranks, and prints the traceback
};

/// Waits for `seconds`. Calls Session::stop_point() at regular intervals, which throws StopRun if a stop was requested.
/// Collective.
void wait_to_restart(double seconds, Session& session);

}  // namespace trainrt::trainer
