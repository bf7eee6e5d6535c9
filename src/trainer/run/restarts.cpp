#include "trainer/run/restarts.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <thread>

#include <fmt/format.h>

#include "checkpoint/memory/copy_file.hpp"
#include "config/run_name.hpp"
#include "core/environment.hpp"
#include "core/host.hpp"
#include "core/output/log.hpp"
#include "core/restart_help.hpp"
#include "core/text/text.hpp"
#include "rundir/attempts/attempt_files.hpp"
#include "rundir/attempts/progress.hpp"
#include "rundir/attempts/repeated_error.hpp"
#include "trainer/ending/ending.hpp"
#include "trainer/saving/memory_copies.hpp"
#include "trainer/session/session.hpp"

namespace trainrt::trainer {

namespace {

constexpr double max_pause_s = 60;

/// Returns whether this attempt has made a copy of its State in memory.
bool has_copies() { return file_for_copies() >= 0 && checkpoint::CopyFile::is_in_use(file_for_copies()); }

}  // namespace

ExitCode code_without_restart(const std::string& run_dir, ExitCode code, Communicator& communicator) {
  std::int64_t is_recorded = 1;
  RankZero(communicator.rank()).run([&] { is_recorded = rundir::forbid_restart(run_dir) ? 1 : 0; });
  communicator.broadcast(Buffer{&is_recorded, 1, DType::i64}, 0, "whether the record forbids restarts");
  return is_recorded != 0 ? code : ExitCode::no_progress;
}

Restarts::Restarts(const config::RunSpec& spec, Communicator& communicator)
    : spec_(spec), communicator_(communicator), rank_zero_(communicator.rank()) {
  const auto counted_before = Environment::of_process().number(failures_variable);
  std::array<std::int64_t, 2> values = {counted_before.value_or(0), counted_before ? 1 : 0};
  communicator.broadcast(Buffer{values.data(), values.size(), DType::i64}, 0, "number of earlier failures");
  failures_ = static_cast<int>(values[0]);
  is_watched_ = values[1] != 0;
  is_in_fit_ = Environment::of_process().has("TRAINRT_FIT_TITLE");
}

void Restarts::count(const FailedTogether& failure) {
  ++failures_;
  own_failures_ = !failure.is_early && has_copies() ? 0 : own_failures_ + 1;
  if (!restart_may_help(static_cast<int>(failure.code()))) throw comm::AgreedError(failure.what(), failure.code());
  const int max_failures = spec_.failure.max_failures;
  if (failure.is_permanent) require_other_error(failure);  // also at the limit, so that a sweep does not restart the run
  if (failures_ > max_failures) give_up(failure);
  if (!failure.is_permanent) require_other_error(failure);
  require_other_mistake(failure);
  log::run_warning(fmt::format("{}: restarting the run{}, restart {} of {} (failure.max_failures)",
                               first_line(failure.what()), pause_s() > 0 ? fmt::format(" in {:.0f} s", pause_s()) : "",
                               failures_, max_failures));
  rank_zero_.run([&] {
    rundir::announce_start(
        spec_.run_dir,
        rundir::NextStart{.time = utc_before(-pause_s()), .restart = failures_, .max_restarts = max_failures});
  });
}

/// Throws AgreedError if the run fails with a permanent error, or again with the same error, before the first step.
void Restarts::require_other_error(const FailedTogether& failure) {
  may_have_trained_ = may_have_trained_ || !failure.is_early;
  const bool is_repeated = !failure.signature.empty() && failure.signature == last_signature_;
  last_signature_ = failure.signature;
  if (may_have_trained_ || !(failure.is_permanent || is_repeated)) return;
  const auto code = code_without_restart(spec_.run_dir, failure.code(), communicator_);
  const auto text = last_line(failure);
  throw comm::AgreedError(
      fmt::format("{}; {}. Fix the error and run the same command again", text,
                  failure.is_permanent ? "not restarted, since every rank failed in this way before the first step"
                                       : "not restarted again, since it failed in the same way before the first step"),
      code);
}

/// Throws AgreedError if the last two attempts failed in the train function with the same error at the same step, and
/// without a newer checkpoint. Collective.
void Restarts::require_other_mistake(const FailedTogether& failure) {
  std::string repeated;
  rank_zero_.run([&] { repeated = rundir::repeated_mistake(spec_.run_dir); });
  repeated = communicator_.broadcast_text(repeated, 0);
  if (repeated.empty()) return;
  throw comm::AgreedError(fmt::format("{}; {}. Fix the error and run the same command {}; {}", last_line(failure), repeated,
                                      config::again(spec_.run), next_start(spec_, false)),
                          code_without_restart(spec_.run_dir, failure.code(), communicator_));
}

/// Returns the first line of the message of `failure`, with which the last message of the run begins. Logs the other
/// lines, such as a traceback, except under `fit()` in a script, which prints the traceback itself.
std::string Restarts::last_line(const FailedTogether& failure) const {
  const std::string text = failure.brief.empty() ? failure.what() : failure.brief;
  if (const auto end = text.find('\n'); end != std::string::npos && !is_in_fit_)
    rank_zero_.run([&] { log::details(text.substr(end + 1)); });
  return first_line(text);
}

void Restarts::give_up(const FailedTogether& failure) const {
  const auto text = last_line(failure);
  if (is_watched_ || spec_.failure.max_failures == 0) throw comm::AgreedError(text, failure.code());
  throw comm::AgreedError(
      fmt::format("{}; given up after {} (failure.max_failures = {}). Fix the problem and run the same command {}; {}",
                  text, counted(failures_, "failure"), spec_.failure.max_failures, config::again(spec_.run),
                  next_start(spec_, rundir::last_attempt_was_silent(spec_.run_dir))),
      failure.code());
}

double Restarts::pause_s() const {
  return own_failures_ < 2 ? 0 : std::min(max_pause_s, std::exp2(std::min(own_failures_, 10) - 2));
}

void wait_to_restart(double seconds, Session& session) {
  constexpr double interval_s = 0.25;
  for (auto intervals = std::lround(seconds / interval_s); intervals > 0; --intervals) {
    std::this_thread::sleep_for(std::chrono::duration<double>(interval_s));
    session.stop_point();
  }
}

}  // namespace trainrt::trainer
