#include "watch/hang_watch.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <exception>
#include <optional>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <trainrt/error.hpp>

#include "core/host.hpp"
#include "core/output/log.hpp"
#include "core/process/stack_trace.hpp"
#include "core/process/thread.hpp"
#include "io/files/exclusive.hpp"
#include "io/files/file.hpp"

namespace trainrt::watch {

namespace {

constexpr double stack_limit_s = 2;
constexpr double others_end_after_s = 10;
constexpr double others_read_s = 3;
constexpr std::string_view cancelled_text = "taken back";  // contents of verdict.txt if the alarm was cancelled
constexpr unsigned alarm_limit_s = 60;

double tick_of(const config::LimitOption& option) {
  return option.kind == config::LimitOption::Kind::seconds ? std::clamp(option.seconds / 8, 0.05, 1.0) : 1.0;
}

/// Returns the seconds that the other ranks get to detect the hang by their own clocks and to write their reports.
double grace_of(const config::LimitOption& option) {
  return option.kind == config::LimitOption::Kind::seconds ? std::clamp(option.seconds / 10, 3.0, 15.0) : 15.0;
}

std::string file_of(const std::string& folder, std::size_t rank) { return fmt::format("{}/rank-{:05}.txt", folder, rank); }

std::vector<std::optional<RankReport>> read_reports(const std::string& folder, std::size_t ranks) {
  std::vector<std::optional<RankReport>> reports(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank) try {
      if (const auto path = file_of(folder, rank); io::exists(path)) reports[rank] = parse_rank_report(io::read_file(path));
    } catch (const Error& error) {
      log::warning(error.what());
    }
  return reports;
}

/// While this object lives, the kernel ends the process with SIGALRM after `alarm_limit_s` seconds, even if all threads are
/// blocked.
class LastResort {
 public:
  LastResort() {
    signal(SIGALRM, SIG_DFL);
    alarm(alarm_limit_s);
  }
  ~LastResort() { alarm(0); }
  LastResort(const LastResort&) = delete;
};

}  // namespace

HangWatch::HangWatch(const Limits& limits, Attempt attempt, const Liveness& life, Actions actions)
    : attempt_(std::move(attempt)),
      life_(life),
      actions_(std::move(actions)),
      option_(limits.hang_timeout),
      collective_timeout_s_(limits.collective_timeout_s),
      tick_s_(tick_of(limits.hang_timeout)),
      folder_(attempt_.run_dir + "/" + attempt_.folder),
      train_thread_(static_cast<pid_t>(syscall(SYS_gettid))),
      note_(WaitReason::of_this_thread()) {
  if (option_.kind != config::LimitOption::Kind::off) thread_ = thread_without_signals([this] { watch(); });
}

HangWatch::~HangWatch() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

bool HangWatch::ends_within(double seconds) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::duration<double>(seconds), [this] { return ending_; });
}

void HangWatch::watch() {
  using State = StallMeter::State;
  StallMeter meter(option_, collective_timeout_s_, tick_s_);
  for (auto last = monotonic_seconds(); !ends_within(tick_s_);) {
    const auto now = monotonic_seconds();
    const auto state = meter.observe(now - std::exchange(last, now), life_.snapshot(), !note_.text().empty());
    if (state != State::stalled && !(state == State::suspicious && io::exists(folder_))) continue;
    if (raise_alarm(meter)) return;
    meter.postpone();
    last = monotonic_seconds();
  }
}

/// Raises the hang alarm: writes the report of this rank and ends the job step. Returns false if the alarm was cancelled.
bool HangWatch::raise_alarm(const StallMeter& meter) {
  const LastResort last_resort;
  const Suspicion suspicion{
      .quiet_s = meter.quiet(), .updates = life_.snapshot().updates, .is_excused = meter.is_excused(!note_.text().empty())};
  bool written = false;
  for (int tries_left = 1; !written && tries_left >= 0; --tries_left) try {
      write_report(meter);
      written = true;
      // another rank may have removed the report folder in the meantime: the loop tries again
    } catch (const std::exception& error) {
      if (tries_left == 0)
        log::error(fmt::format("this rank hangs, and its hang report cannot be written: {}", error.what()));
    }
  try {
    if (!decide(suspicion)) return false;
  } catch (const std::exception& error) {
    if (written && is_cancelled()) return false;
    log::error(fmt::format("ranks hang, but this could not be recorded in the run directory: {}", error.what()));
  }
  if (ends_within(0)) return false;  // The train thread has ended, so nothing hangs any more.
  actions_.end_step();
  return true;
}

/// Waits for the reports of the other ranks, and returns whether this rank must end the job step. The first rank that
/// creates verdict.txt decides; all other ranks follow its verdict, and end the job step if it has not ended after a
/// while.
bool HangWatch::decide(const Suspicion& suspicion) {
  const bool continued = ends_within(grace_of(option_)) || life_.snapshot().updates != suspicion.updates;
  const auto verdict = judge_hang(read_reports(folder_, attempt_.host_of_rank.size()), attempt_.host_of_rank);
  const bool hangs = verdict.hangs && !continued;
  const auto why = fmt::format("hang: no step, report or stop point for {:.0f} s ({}): {}. Stacks: {}", suspicion.quiet_s,
                               option_.key, verdict.text, attempt_.folder);
  if (!io::create_exclusive(folder_ + "/verdict.txt", (hangs ? why : std::string(cancelled_text)) + "\n"))
    return follow_others();
  if (!hangs) {
    cancel_alarm(continued && !suspicion.is_excused);
    return false;
  }
  log_stacks(verdict);
  log::error(why);
  actions_.write_down(why, verdict);
  return true;
}

/// Logs the stacks of the first late rank, for which the others wait.
void HangWatch::log_stacks(const HangVerdict& verdict) const try {
  if (!verdict.late_rank) return;
  const auto rank = static_cast<std::size_t>(*verdict.late_rank);
  const auto path = file_of(folder_, rank);
  if (!io::exists(path)) return;  // a rank that did not answer
  const auto ranks = attempt_.host_of_rank.size();
  log::details(fmt::format("stack of rank {} on {}{}:\n{}", rank, attempt_.host_of_rank.at(rank),
                           ranks > 1 ? ", for which the other ranks wait" : "", stacks_in(io::read_file(path))));
} catch (const Error& error) {
  log::warning(error.what());
}

/// Waits until the rank that created verdict.txt has ended the job step or cancelled the alarm. Returns true if this rank
/// has to end the step, because the other rank decided to end it and has not done so in time.
bool HangWatch::follow_others() {
  const auto end = monotonic_seconds() + others_end_after_s;
  while (monotonic_seconds() < end && !ends_within(0.1))
    if (!io::exists(folder_)) return false;
  return io::exists(folder_) && !io::read_file(folder_ + "/verdict.txt").starts_with(cancelled_text);
}

/// Waits a short time after a storage error. Returns true if the alarm is over: another rank has cancelled it and
/// removed the report of this rank, or the train thread has ended.
bool HangWatch::is_cancelled() {
  const auto own = file_of(folder_, static_cast<std::size_t>(attempt_.rank));
  for (const auto end = monotonic_seconds() + others_read_s; io::exists(own) && !ends_within(0.1);)
    if (monotonic_seconds() > end) return false;
  return true;
}

void HangWatch::cancel_alarm(bool warns) {
  if (warns)
    log::warning(
        fmt::format("ranks seemed to hang, but have continued: the train function may take longer between two steps than "
                    "{} allows. Increase this limit, or call stop_point() in the function",
                    option_.key));
  ends_within(others_read_s);
  for (int tries_left = 20;; --tries_left) try {
      return io::remove_tree(folder_);
    } catch (const Error&) {  // removal fails if a late rank has just written its report into the folder
      if (tries_left == 0) throw;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
}

void HangWatch::write_report(const StallMeter& meter) const {
  const auto seen = life_.snapshot();
  const auto waits_in = note_.text();
  const auto program = actions_.program ? actions_.program() : StartedProgram{};
  const RankReport report{.rank = attempt_.rank,
                          .host = attempt_.host_of_rank.at(static_cast<std::size_t>(attempt_.rank)),
                          .pid = getpid(),
                          .step = seen.step,
                          .phase = std::string(name_of(seen.phase)),
                          .quiet_s = meter.quiet(),
                          .excused = meter.is_excused(!waits_in.empty()),
                          .waits_in = waits_in,
                          .program = program.location,
                          .last_call = program.last_call};
  const auto frames = stack_of(train_thread_, stack_limit_s);
  const auto stack = frames.count > 0
                         ? describe(frames)
                         : "  (the thread does not answer: it is blocked in the kernel, or it blocks signals)\n";
  io::make_directories(folder_);
  io::replace_file(file_of(folder_, static_cast<std::size_t>(attempt_.rank)),
                   report_file(report, {stack, stacks_of_other_threads(train_thread_), program.stacks}));
}

}  // namespace trainrt::watch
