#pragma once
#include <cstdint>
#include <string>

#include <trainrt/error.hpp>

#include "core/mistake.hpp"
#include "launch/launcher.hpp"
#include "trainer/run/running_attempt.hpp"
#include "trainer/session/session.hpp"

namespace trainrt::trainer {

/// The failure of an attempt, for error.txt and the attempt's record.
struct Failure {
  std::string text;     ///< description of the failure in one line
  std::string details;  ///< further lines, written to error.txt only
  ExitCode code = ExitCode::failed;
  std::int64_t step = 0;
  std::int64_t iteration = 0;
  bool silent = false;           ///< the attempt ran a program that has reported no progress
  std::string blamed_node = {};  ///< AttemptRecord::blamed_node
  Mistake mistake = {};          ///< AttemptRecord::mistake
};

/// Records `failure` in error.txt, in the attempt's record and in run.json. Does nothing if another rank has already
/// recorded a failure of this attempt. May be called on any rank and thread. Throws StorageError.
void record_failure(const RunningAttempt& attempt, const Failure& failure);

/// Reports that the train function failed on this rank: logs and records the failure, and notifies the callbacks. Then ends
/// the job step, since other ranks may wait in collectives. Must be called while the exception is handled. `error` has the
/// first line of the message, `full_message` has all lines. If this is the only rank and RunningAttempt::has_caller is
/// true, throws `error` without logging it. Also throws if the ranks are threads.
[[noreturn]] void fail_all_ranks(const RunningAttempt& attempt, const Session& session, launch::Launch& launch,
                                 const Error& error, const std::string& full_message);

/// Returns the message for attempt number `attempt`, whose run directory a newer attempt has taken over. The message is
/// logged instead of the other errors of the attempt, which are only consequences.
std::string fenced_message(int attempt);

/// Logs fenced_message() and ends the job step. Records nothing, since the run directory belongs to the newer attempt. The
/// exit code is 70 (failed): a batch script requeues a job after exit code 75, and this job was already requeued.
void abort_fenced_attempt(int attempt, launch::Launch& launch);

}  // namespace trainrt::trainer
