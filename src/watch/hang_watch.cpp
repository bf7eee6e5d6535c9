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
#include "core/log.hpp"
#include "core/stack_trace.hpp"
#include "core/thread.hpp"
#include "io/exclusive.hpp"
#include "io/file.hpp"

namespace trainrt::watch {

namespace {

constexpr double stack_limit_s = 2;
constexpr double others_end_after_s = 10;
constexpr double others_read_s = 3;
constexpr std::string_view taken_back_text = "taken back";
constexpr unsigned given_up_after_s = 60;

double tick_of(const config::LimitOption& option) {
  return option.kind == config::LimitOption::Kind::seconds ? std::clamp(option.seconds / 8, 0.05, 1.0) : 1.0;
}

/// For the others to notice, on their own clocks, and to write.
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

/// While it lives this process ends after a minute, whatever its threads are held by: the kernel sees to it.
class LastResort {
 public:
  LastResort() {
    signal(SIGALRM, SIG_DFL);
    alarm(given_up_after_s);
  }
  ~LastResort() { alarm(0); }
  LastResort(const LastResort&) = delete;
};

}  // namespace

HangWatch::HangWatch(const Limits& limits, Scene scene, const Liveness& life, Actions actions)
    : scene_(std::move(scene)),
      life_(life),
      actions_(std::move(actions)),
      option_(limits.hang_timeout),
      collective_timeout_s_(limits.collective_timeout_s),
      tick_s_(tick_of(limits.hang_timeout)),
      folder_(scene_.run_dir + "/" + scene_.folder),
      train_thread_(static_cast<pid_t>(syscall(SYS_gettid))),
      note_(WaitNote::of_this_thread()) {
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
    const auto state = meter.observe(now - std::exchange(last, now), life_.seen(), !note_.text().empty());
    if (state != State::stalled && !(state == State::worried && io::exists(folder_))) continue;
    if (raise_alarm(meter)) return;
    meter.postpone();
    last = monotonic_seconds();
  }
}

/// False if it was taken back.
bool HangWatch::raise_alarm(const StallMeter& meter) {
  const LastResort last_resort;
  const Suspicion suspicion{
      .quiet_s = meter.quiet(), .signs = life_.seen().updates, .is_excused = meter.is_excused(!note_.text().empty())};
  bool written = false;
  for (int tries_left = 1; !written && tries_left >= 0; --tries_left) try {
      write_report(meter);
      written = true;
    } catch (const std::exception& error) {  // at first: another rank may just have cleared the folder away
      if (tries_left == 0) log::error(fmt::format("this rank hangs, and cannot write where: {}", error.what()));
    }
  try {
    if (!decide(suspicion)) return false;
  } catch (const std::exception& error) {
    if (written && is_cleared_away()) return false;
    log::error(fmt::format("ranks hang, and that could not be written down: {}", error.what()));
  }
  if (ends_within(0)) return false;  // the train thread has come to its end
  actions_.end_step();
  return true;
}

/// True if the step is to be ended. One rank finds the verdict, and all keep to it.
bool HangWatch::decide(const Suspicion& suspicion) {
  const bool gone_on = ends_within(grace_of(option_)) || life_.seen().updates != suspicion.signs;
  const auto verdict = judge_hang(read_reports(folder_, scene_.host_of_rank.size()), scene_.host_of_rank);
  const bool hangs = verdict.hangs && !gone_on;
  const auto why = fmt::format("hang: no step, report or stop point for {:.0f} s ({}): {}. Stacks: {}", suspicion.quiet_s,
                               option_.key, verdict.text, scene_.folder);
  if (!io::create_exclusive(folder_ + "/verdict.txt", (hangs ? why : std::string(taken_back_text)) + "\n"))
    return follow_others();
  if (!hangs) {
    take_back(gone_on && !suspicion.is_excused);
    return false;
  }
  log::error(why);
  actions_.write_down(why, verdict);
  return true;
}

/// The rank that found the verdict acts on it; true if it has not ended the step in time.
bool HangWatch::follow_others() {
  const auto end = monotonic_seconds() + others_end_after_s;
  while (monotonic_seconds() < end && !ends_within(0.1))
    if (!io::exists(folder_)) return false;
  return io::exists(folder_) && !io::read_file(folder_ + "/verdict.txt").starts_with(taken_back_text);
}

/// After an error of the storage: another rank has taken the alarm back, and removes what this one had written. Also true
/// if the train thread comes to its end meanwhile.
bool HangWatch::is_cleared_away() {
  const auto own = file_of(folder_, static_cast<std::size_t>(scene_.rank));
  for (const auto end = monotonic_seconds() + others_read_s; io::exists(own) && !ends_within(0.1);)
    if (monotonic_seconds() > end) return false;
  return true;
}

void HangWatch::take_back(bool says_so) {
  if (says_so)
    log::warning(fmt::format(
        "ranks were taken to hang and have gone on: the train function may take longer between two steps than {} allows; "
        "set it higher, or let the function call stop_point()",
        option_.key));
  ends_within(others_read_s);
  for (int tries_left = 20;; --tries_left) try {
      return io::remove_tree(folder_);
    } catch (const Error&) {  // a rank that comes late has just written its report
      if (tries_left == 0) throw;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
}

void HangWatch::write_report(const StallMeter& meter) const {
  const auto seen = life_.seen();
  const auto waits_in = note_.text();
  const auto program = actions_.program ? actions_.program() : StartedProgram{};
  const RankReport report{.rank = scene_.rank,
                          .host = scene_.host_of_rank.at(static_cast<std::size_t>(scene_.rank)),
                          .pid = getpid(),
                          .step = seen.step,
                          .phase = std::string(name_of(seen.phase)),
                          .quiet_s = meter.quiet(),
                          .excused = meter.is_excused(!waits_in.empty()),
                          .waits_in = waits_in,
                          .program = program.place,
                          .last_call = program.last_call};
  const auto frames = stack_of(train_thread_, stack_limit_s);
  const auto stack =
      frames.count > 0 ? describe(frames) : "  (it does not answer: the kernel holds it, or it blocks signals)\n";
  io::make_directories(folder_);
  io::replace_file(file_of(folder_, static_cast<std::size_t>(scene_.rank)),
                   fmt::format("{}stack of the train thread\n{}\nother threads\n{}{}", to_text(report), stack,
                               stacks_of_other_threads(train_thread_),
                               program.stacks.empty() ? "" : "\nstacks of the program\n" + program.stacks));
}

}  // namespace trainrt::watch
