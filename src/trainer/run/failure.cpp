#include "trainer/run/failure.hpp"

#include <chrono>
#include <thread>

#include <fmt/format.h>

#include "checkpoint/format/listing.hpp"
#include "comm/comm_error.hpp"
#include "core/host.hpp"
#include "core/output/log.hpp"
#include "core/output/output_capture.hpp"
#include "core/output/output_tail.hpp"
#include "core/process/stack_trace.hpp"
#include "core/text/printable.hpp"
#include "core/text/text.hpp"
#include "device/device_error.hpp"
#include "rundir/attempts/attempt_files.hpp"
#include "rundir/records/point_words.hpp"
#include "rundir/records/run_record.hpp"
#include "rundir/storage/run_directory.hpp"
#include "trainer/ending/advice.hpp"
#include "trainer/run/failure_notice.hpp"
#include "watch/exit_guard.hpp"
#include "watch/thrown.hpp"

namespace trainrt::trainer {

namespace {

/// A config that the train function cannot use is found before anything happened: such a new run leaves nothing behind.
/// Attempt 1 alone does not tell: if somebody removed the attempts' records, the checkpoints must stay.
bool leaves_nothing(const AttemptPlace& place, const Session& session, const Error& error) {
  return error.code() == ExitCode::usage && place.is_new && place.attempt == 1 && session.step_count() == 0 &&
         session.iteration() == 0 && checkpoint::highest_number(place.spec.run_dir) < 0;
}

/// Another rank could not use the config either, said so, and took the new run back: there is nothing more to say or to
/// remove. If a newer attempt took the run, its record is there.
bool is_taken_back(const AttemptPlace& place, const Session& session, const Error& error) {
  return leaves_nothing(place, session, error) && rundir::numbers_of_attempts(place.spec.run_dir).empty();
}

[[noreturn]] void end_with(const Error& error, launch::Launch& launch) {
  wait_for_output_delivery();
  launch.abort(static_cast<int>(error.code()));
  throw error;  // if the ranks are threads, abort() returns
}

/// Of the exception that is being handled: its type, if it was thrown, and the rest of a message of several lines.
std::string details_of_exception(const std::string& message) {
  auto text = fmt::format("thrown as {}, at\n{}", watch::thrown_type(), describe(watch::thrown_at()));
  if (message.find('\n') != std::string::npos) text += "the message in full\n" + message + "\n";
  return text;
}

/// This one, if the exception that is being handled says that a process here has died, or that a GPU has come to a halt.
std::string node_to_blame() try { throw; } catch (const comm::RankGone&) {
  return node_name();
} catch (const device::GpuStalled&) {
  return node_name();
} catch (...) {
  return {};
}

/// This rank's, and rank 0's.
void tell_callbacks(const AttemptPlace& place, const RunFailure& failure) {
  place.callbacks.fail(failure);
  if (place.callbacks.must_notify_rank_0()) leave_notice(place.files.private_dir(), failure);
}

}  // namespace

void write_down(const AttemptPlace& place, const Failure& failure) {
  const auto& run_dir = place.spec.run_dir;
  // Other ranks may fail because this one did: the first to write is the one to know.
  if (!place.files.create("error.txt", printable_text(utc_now() + " " + failure.text + "\n" + failure.details))) return;
  rundir::mark_failed(run_dir, place.attempt, "failed: " + failure.text, static_cast<int>(failure.code), failure.step,
                      failure.blamed_node);
  if (auto record = rundir::read_run_record(run_dir)) {
    record->state = rundir::RunState::failed;
    rundir::write_run_record(place.files, *record);
  }
  log::info(fmt::format("the error is kept in {}/error.txt; mend what it says and start the same command again: {}",
                        run_dir,
                        failure.silent ? "the program is started again, and goes on from what it saved by itself"
                                       : "the run continues from its last checkpoint"));
}

std::string fenced_text(int attempt) {
  return fmt::format("a newer attempt has taken over this run; attempt {} ends, and changes nothing more (exit {})",
                     attempt, static_cast<int>(ExitCode::failed));
}

void end_as_fenced(int attempt, launch::Launch& launch) {
  log::error(fenced_text(attempt));
  wait_for_output_delivery();
  watch::ExitGuard::disarm();
  launch.abort(static_cast<int>(ExitCode::failed));
}

void fail_everywhere(const AttemptPlace& place, const Session& session, launch::Launch& launch, const Error& error,
                     const std::string& whole_message) {
  std::this_thread::sleep_for(std::chrono::duration<double>(delay_after_rank0_s(launch.world(), 1)));
  if (is_taken_back(place, session, error)) end_with(error, launch);
  if (place.files.is_fenced()) {
    end_as_fenced(place.attempt, launch);
    throw Error(fenced_text(place.attempt));  // if the ranks are threads, abort() returns
  }
  OutputCapture::flush();
  const auto printed = OutputCapture::last();
  const auto lines = lines_in_words(launch.world().rank, printed.lines);
  const auto details = details_of_exception(whole_message) + (lines.empty() ? "" : lines.substr(1) + "\n");
  const auto point = session.is_silent() && session.iteration() == 0
                         ? ""
                         : " at " + rundir::short_point(session.step_count(), session.iteration());
  const auto text = fmt::format("rank {} on {} failed{} (attempt {}): {}", launch.world().rank, host_name(), point,
                                place.attempt, first_line(error.what()));
  const bool is_thrown = place.has_caller && launch.world().size == 1;
  if (!is_thrown) log::error(error.what() + (printed.is_shown ? "" : lines));
  try {
    if (leaves_nothing(place, session, error))
      rundir::discard_run_directory(place.files, place.attempt, place.there_before);
    else
      write_down(place, {text, details, error.code(), session.step_count(), session.is_silent(), node_to_blame()});
  } catch (const std::exception& second) {
    log::error(std::string("and that could not be written down: ") + with_advice(second));
  }
  tell_callbacks(place, {launch.world().rank, host_name(), text, place.attempt, session.step_count()});
  if (is_thrown) throw error;
  end_with(error, launch);
}

}  // namespace trainrt::trainer
