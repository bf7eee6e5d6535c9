#include "tune/run/sweep_run.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "batch/signals.hpp"
#include "core/output/log.hpp"
#include "core/process/thread.hpp"
#include "core/text/text.hpp"
#include "io/files/exclusive.hpp"
#include "io/files/file.hpp"

namespace trainrt::tune {

namespace {

using namespace std::chrono_literals;

constexpr auto poll_interval = 50ms;  // interval at which signals are checked
constexpr auto journal_poll_interval = 1s;
constexpr int max_polls_at_end = 5;
constexpr auto heartbeat_interval = 5s;
constexpr auto progress_interval = 60s;
constexpr auto stop_notice_delay = 2s;  // time after a stop until a message names the number of trials that still run

/// Limits how often an action is performed.
class Throttle {
 public:
  explicit Throttle(std::chrono::steady_clock::duration length) : length_(length) {}
  /// Returns whether the interval has passed since the last call that returned true.
  bool has_passed() {
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < length_) return false;
    last_ = now;
    return true;
  }

 private:
  std::chrono::steady_clock::duration length_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

/// Returns whether the trial failed because it did not report the metric. Older versions recorded only the error.
bool lacked_metric(const Trial& trial) {
  return trial.missing_metric || trial.why.find("but the report has no number of that name") != std::string::npos;
}

}  // namespace

std::string retry_failed(const Sweep& sweep) {
  const auto history = history_of(sweep);
  const bool all_failed = have_all_failed(sweep, history);
  if (!all_failed && has_metric(sweep, history)) return "";
  std::vector<std::string> records;
  for (const auto& [number, trial] : history.trials())
    if (all_failed || (trial.state == Trial::State::failed && lacked_metric(trial)))
      records.push_back(retry_record(number, trial.attempt));
  if (records.empty()) return "";
  auto writer = JournalWriter::claimed(sweep.journal());
  writer.append(writer_record(rundir::this_owner()));
  for (const auto& record : records) writer.append(record, true);
  if (all_failed) return "all trials of the sweep had failed and are retried";
  const auto count = static_cast<std::int64_t>(records.size());
  return fmt::format("{} that did not report the metric {} retried", counted(count, "trial"), count == 1 ? "is" : "are");
}

/// Detects trials that failed since this object was created and will not be retried. The trials may belong to any
/// process. With tune.fail_fast, such a failure ends the sweep.
class SweepRun::FailureWatch {
 public:
  explicit FailureWatch(const Sweep& sweep) : sweep_(sweep), reader_(sweep.journal()), before_(failed()) {}
  /// Returns false if the journal was truncated; the threads that run trials report this error.
  bool has_failures() try { return failed() > before_; } catch (const Error&) {
    return false;
  }

 private:
  std::int64_t failed() {
    reader_.read([this](int writer, const std::string& json) { history_.take(writer, json); });
    return std::ranges::count_if(history_.trials(), [this](const auto& each) {
      return each.second.state == Trial::State::failed && each.second.is_done(sweep_.max_failures());
    });
  }

  const Sweep& sweep_;
  JournalReader reader_;
  History history_;
  std::int64_t before_;
};

SweepRun::SweepRun(const Sweep& sweep)
    : sweep_(sweep),
      common_error_(sweep, history_of(sweep)),
      failures_(sweep.fail_fast() ? std::make_unique<FailureWatch>(sweep) : nullptr) {}

SweepRun::~SweepRun() = default;

/// Forwards signals to the groups, each of which runs one trial after another, and writes heartbeats and progress
/// lines. `stop_file` is the parameter of run_here(), or "".
void SweepRun::supervise(const std::vector<std::unique_ptr<TrialGroup>>& groups, const std::string& stop_file) {
  using Clock = std::chrono::steady_clock;
  Throttle others(journal_poll_interval), heartbeat(heartbeat_interval), line(progress_interval);
  auto notice_at = Clock::time_point::max();  // time of the message about trials that have not stopped yet
  bool has_stopped_groups = false;
  std::pair<std::uint64_t, int> printed;  // numbers of done and running trials in the last progress line
  while (working_ > 0) {
    if (batch::stop_signal() != 0) stopping_ = true;
    if (stopping_ && !std::exchange(has_stopped_groups, true)) {
      for (const auto& group : groups) group->stop();
      if (!stop_file.empty()) io::create_exclusive(stop_file, "");
      notice_at = Clock::now() + stop_notice_delay;
    }
    if (stop_file.empty() && Clock::now() >= notice_at) {
      notice_at = Clock::time_point::max();
      log::info(fmt::format("stopping: waiting for the next report of {}", counted(working_.load(), "trial")));
    }
    if (heartbeat.has_passed()) {
      for (const auto& group : groups) group->touch_heartbeat();
      if (failures_ && failures_->has_failures()) stopping_ = true;
    }
    if (!stop_file.empty() && others.has_passed() && io::exists(stop_file)) stopping_ = true;
    if (stop_file.empty() && line.has_passed()) {
      const auto now = std::pair(trials_done(sweep_, history_of(sweep_)), working_.load());
      if (std::exchange(printed, now) != now)
        log::info(fmt::format("{} of {} trials done, running {} at a time", now.first, sweep_.trials(), now.second));
    }
    std::this_thread::sleep_for(poll_interval);
  }
}

ExitCode SweepRun::run(const std::vector<std::unique_ptr<TrialRunner>>& runners) {
  std::vector<std::unique_ptr<TrialGroup>> groups;
  for (const auto& runner : runners)
    groups.push_back(std::make_unique<TrialGroup>(sweep_, *runner, stopping_, common_error_, ends_));
  std::vector<std::exception_ptr> errors(groups.size());
  std::vector<std::thread> threads;
  const auto work = [&](std::size_t group) {
    try {
      groups[group]->work();
    } catch (...) {
      errors[group] = std::current_exception();
      stopping_ = true;
    }
    --working_;
  };
  working_ = static_cast<int>(groups.size());
  for (std::size_t group = 0; group < groups.size(); ++group)
    threads.push_back(thread_without_signals([&work, group] { work(group); }));
  supervise(groups, "");
  for (auto& thread : threads) thread.join();
  for (const auto& error : errors)
    if (error) std::rethrow_exception(error);
  return outcome();
}

ExitCode SweepRun::run_here(TrialRunner& runner, const std::string& stop_file) {
  std::vector<std::unique_ptr<TrialGroup>> groups;
  groups.push_back(std::make_unique<TrialGroup>(sweep_, runner, stopping_, common_error_, ends_));
  const auto path = sweep_.journal() + "/" + stop_file;
  working_ = 1;
  auto watch = thread_without_signals([&] { supervise(groups, path); });
  const auto leave = [&] {
    working_ = 0;
    watch.join();
  };
  try {
    groups.front()->work();
  } catch (...) {
    leave();
    throw;
  }
  leave();
  if (stopping_) io::create_exclusive(path, "");  // the group may have ended before the watch thread saw the stop
  return outcome();
}

/// Reads the journal. If no stop was requested, all trials are done, because the groups end only then. A storage may
/// show new records late, so the journal is read again while it has fewer trials that are done.
History SweepRun::history_at_end() const {
  auto history = history_of(sweep_);
  for (int polls = 1; polls < max_polls_at_end && !stopping_ && trials_done(sweep_, history) < sweep_.trials(); ++polls) {
    std::this_thread::sleep_for(journal_poll_interval);
    history = history_of(sweep_);
  }
  return history;
}

ExitCode SweepRun::outcome() {
  const auto history = history_at_end();
  error_ = common_error_.of_any(history);
  if (!error_.empty()) return ExitCode::usage;
  if (failures_ && failures_->has_failures()) return ExitCode::failed;
  if (trials_done(sweep_, history) < sweep_.trials()) return ExitCode::stopped;
  return have_all_failed(sweep_, history) ? ExitCode::failed : ExitCode::finished;
}

}  // namespace trainrt::tune
