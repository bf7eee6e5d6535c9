#include "trainer/run/failure.hpp"

#include <chrono>
#include <stdexcept>
#include <thread>

#include <fmt/format.h>

#include "checkpoint/format/listing.hpp"
#include "comm/comm_error.hpp"
#include "config/run_name.hpp"
#include "core/environment.hpp"
#include "core/host.hpp"
#include "core/output/log.hpp"
#include "core/output/output_capture.hpp"
#include "core/output/output_tail.hpp"
#include "core/process/stack_trace.hpp"
#include "core/restart_help.hpp"
#include "core/text/printable.hpp"
#include "core/text/text.hpp"
#include "device/device_error.hpp"
#include "rundir/attempts/attempt_files.hpp"
#include "rundir/records/point_words.hpp"
#include "rundir/records/run_record.hpp"
#include "rundir/storage/run_directory.hpp"
#include "trainer/ending/advice.hpp"
#include "trainer/ending/ending.hpp"
#include "trainer/run/failure_notice.hpp"
#include "watch/exit_guard.hpp"
#include "watch/thrown.hpp"

namespace trainrt::trainer {

namespace {

/// Returns whether a new run failed with an invalid config before any step, report or checkpoint, so that its run directory
/// can be removed. Checkpoints are searched even in attempt 1, since a user may have removed the records of attempts.
bool leaves_nothing(const RunningAttempt& attempt, const Session& session, const Error& error) {
  return error.code() == ExitCode::usage && attempt.is_new && attempt.number == 1 && session.step_count() == 0 &&
         session.iteration() == 0 && checkpoint::highest_number(attempt.spec.run_dir) < 0;
}

/// Returns whether another rank failed with an invalid config, too, and has already logged the failure and removed the new
/// run. If instead a newer attempt took over the run, the record of that attempt exists, and the result is false.
bool was_removed(const RunningAttempt& attempt, const Session& session, const Error& error) {
  return leaves_nothing(attempt, session, error) && rundir::numbers_of_attempts(attempt.spec.run_dir).empty();
}

[[noreturn]] void abort_with_error(const Error& error, launch::Launch& launch) {
  wait_for_output_delivery();
  launch.abort(static_cast<int>(error.code()));
  throw error;  // abort() returns if the ranks are threads
}

/// Returns the type and the stack of the exception that is being handled. A `message` of several lines is appended.
std::string exception_details(const std::string& message) {
  auto text = fmt::format("thrown as {}, at\n{}", watch::thrown_type(), describe(watch::thrown_at()));
  if (message.find('\n') != std::string::npos) text += "full message\n" + message + "\n";
  return text;
}

/// Returns the name of this node if the exception that is being handled is comm::RankGone or device::GpuStalled; otherwise
/// "".
std::string blamed_node() try { throw; } catch (const comm::RankGone&) {
  return node_name();
} catch (const device::GpuStalled&) {
  return node_name();
} catch (...) {
  return {};
}

/// Returns the mistake that the exception that is being handled reports. The mistake has no kind if the failure may be
/// temporary.
Mistake mistake_in_flight() try { throw; } catch (const MistakeError& error) {
  return error.mistake;
} catch (const std::logic_error& error) {  // such as std::out_of_range of vector::at()
  return {std::string(mistake_kind::exception), fmt::format("{}: {}", watch::thrown_type(), first_line(error.what()))};
} catch (...) {
  return {};
}

/// Notifies the callbacks of this rank and of rank 0 of a failure.
void notify_callbacks(const RunningAttempt& attempt, const RunFailure& failure) {
  attempt.callbacks.fail(failure);
  if (attempt.callbacks.must_notify_rank_0()) notify_rank_zero(attempt.files.private_dir(), failure);
}

std::string one_line(const RunningAttempt& attempt, const Session& session, const launch::Launch& launch,
                     const Error& error) {
  const auto point = session.is_silent() && session.iteration() == 0
                         ? ""
                         : " at " + rundir::short_point(session.step_count(), session.iteration());
  return fmt::format("rank {} on {} failed{} (attempt {}): {}", launch.world().rank, host_name(), point, attempt.number,
                     first_line(error.what()));
}

}  // namespace

void record_failure(const RunningAttempt& attempt, const Failure& failure) {
  const auto& run_dir = attempt.spec.run_dir;
  // Only the first failure is recorded. Later failures of other ranks may be consequences of the first failure.
  const auto text = printable_text(utc_now() + " " + failure.text + "\n" + failure.details);
  if (!attempt.files.create("error.txt", text)) return;
  rundir::mark_failed(run_dir, attempt.number,
                      {"failed: " + failure.text, static_cast<int>(failure.code), failure.step, failure.iteration,
                       failure.blamed_node, failure.mistake});
  // An attempt to continue a finished run that failed before it loaded a checkpoint leaves the state `finished`.
  if (auto record = rundir::read_run_record(run_dir); record && record->state != rundir::RunState::finished) {
    record->state = rundir::RunState::failed;
    rundir::write_run_record(attempt.files, *record);
  }
  const auto written = fmt::format("the error was written to {}/error.txt", run_dir);
  const auto environment = Environment::of_process();
  const bool is_watched = environment.has(failures_variable) && restart_may_help(static_cast<int>(failure.code));
  if (environment.has(supervised_variable) || is_watched) return log::info(written);  // the parent process gives the advice
  log::info(fmt::format("{}. Fix the problem and run the same command {}; {}", written, config::again(attempt.spec.run),
                        next_start(attempt.spec, failure.silent)));
}

std::string fenced_message(int attempt) {
  return fmt::format("a newer attempt has taken over this run; attempt {} ends without further changes (exit {})", attempt,
                     static_cast<int>(ExitCode::failed));
}

void abort_fenced_attempt(int attempt, launch::Launch& launch) {
  log::error(fenced_message(attempt));
  wait_for_output_delivery();
  watch::ExitGuard::disarm();
  launch.abort(static_cast<int>(ExitCode::failed));
}

void fail_all_ranks(const RunningAttempt& attempt, const Session& session, launch::Launch& launch, const Error& error,
                    const std::string& full_message) {
  std::this_thread::sleep_for(std::chrono::duration<double>(delay_after_rank0_s(launch.world(), 1)));
  if (was_removed(attempt, session, error)) abort_with_error(error, launch);
  if (attempt.files.is_fenced()) {
    abort_fenced_attempt(attempt.number, launch);
    throw Error(fenced_message(attempt.number));  // abort() returns if the ranks are threads
  }
  OutputCapture::flush();
  const auto printed = OutputCapture::last();
  const auto lines = lines_in_words(launch.world().rank, printed.lines);
  const auto details = exception_details(full_message) + (lines.empty() ? "" : lines.substr(1) + "\n");
  const auto text = one_line(attempt, session, launch, error);
  const bool is_thrown = attempt.has_caller && launch.world().size == 1;
  if (!is_thrown) log::error(error.what() + (printed.is_shown ? "" : lines));
  try {
    if (leaves_nothing(attempt, session, error))
      rundir::discard_run_directory(attempt.files, attempt.number, attempt.there_before);
    else
      record_failure(attempt, {text, details, error.code(), session.step_count(), session.last_iteration(),
                               session.is_silent(), blamed_node(), mistake_in_flight()});
  } catch (const std::exception& second) {
    log::error(std::string("the failure could not be recorded: ") + with_advice(second));
  }
  notify_callbacks(attempt, {launch.world().rank, host_name(), text, attempt.number, session.step_count()});
  if (is_thrown) throw error;
  abort_with_error(error, launch);
}

}  // namespace trainrt::trainer
