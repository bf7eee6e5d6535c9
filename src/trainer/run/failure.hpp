#pragma once
#include <cstdint>
#include <string>

#include <trainrt/error.hpp>

#include "launch/launcher.hpp"
#include "trainer/run/running_attempt.hpp"
#include "trainer/session/session.hpp"

namespace trainrt::trainer {

/// The failure of an attempt, for error.txt and the attempt's record.
struct Failure {
  std::string text;     ///< one line
  std::string details;  ///< more lines, for error.txt only
  ExitCode code = ExitCode::failed;
  std::int64_t step = 0;
  bool silent = false;           ///< the attempt ran a program that has reported no progress
  std::string blamed_node = {};  ///< AttemptRecord::blamed_node
};

/// Records a failure in error.txt, in the attempt's record and in run.json, unless another rank has recorded one. May be
/// called on any rank and thread. Throws StorageError.
void record_failure(const RunningAttempt& attempt, const Failure& failure);

/// Reports that the train function failed on this rank: logs and records the failure, notifies the callbacks, and ends the
/// job step, since other ranks may wait in collectives. Must be called while the exception is handled. `error` has the
/// message of one line, `full_message` all its lines. Throws `error`, without logging it, if this is the only rank and has
/// a caller; also throws if the ranks are threads.
[[noreturn]] void fail_all_ranks(const RunningAttempt& attempt, const Session& session, launch::Launch& launch,
                                 const Error& error, const std::string& full_message);

/// Returns the message for an attempt that lost its run directory to a newer attempt. The message is logged instead of any
/// other error of the attempt, since such errors are consequences.
std::string fenced_message(int attempt);

/// Logs fenced_message() and ends the job step without recording anything, since the run directory belongs to the newer
/// attempt. The exit code is 70 and not 75, so that a batch script does not requeue a job that was already requeued.
void abort_fenced_attempt(int attempt, launch::Launch& launch);

}  // namespace trainrt::trainer
