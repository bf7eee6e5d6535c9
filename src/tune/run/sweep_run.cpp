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
#include "io/files/exclusive.hpp"
#include "io/files/file.hpp"

namespace trainrt::tune {

namespace {

using namespace std::chrono_literals;

constexpr auto pause_between_looks = 50ms;  // at signals
constexpr auto pause_between_looks_at_others = 1s;
constexpr int max_looks_at_end = 5;
constexpr auto pause_between_heartbeats = 5s;
constexpr auto pause_between_lines = 60s;

/// Whether it is time again.
class Pause {
 public:
  explicit Pause(std::chrono::steady_clock::duration length) : length_(length) {}
  bool is_over() {
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < length_) return false;
    last_ = now;
    return true;
  }

 private:
  std::chrono::steady_clock::duration length_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace

History history_of(const Sweep& sweep) {
  History history;
  JournalReader reader(sweep.journal());
  reader.read([&](int writer, const std::string& json) { history.take(writer, json); });
  return history;
}

bool have_all_failed(const Sweep& sweep, const History& history) {
  if (history.trials().empty() || trials_over(sweep, history) < sweep.trials()) return false;
  return std::ranges::all_of(history.trials(), [](const auto& each) { return each.second.state == Trial::State::failed; });
}

bool retry_if_all_failed(const Sweep& sweep) {
  const auto history = history_of(sweep);
  if (!have_all_failed(sweep, history)) return false;
  auto writer = JournalWriter::claimed(sweep.journal());
  writer.append(writer_record(rundir::this_owner()));
  for (const auto& [number, trial] : history.trials()) writer.append(retry_record(number, trial.attempt), true);
  return true;
}

/// Whether trials have failed for good since it was made, of any process: that ends a sweep with tune.fail_fast.
class SweepRun::FailureWatch {
 public:
  explicit FailureWatch(const Sweep& sweep) : sweep_(sweep), reader_(sweep.journal()), before_(failed()) {}
  /// Of a journal that was truncated the groups say so.
  bool has_seen_one() try { return failed() > before_; } catch (const Error&) {
    return false;
  }

 private:
  std::int64_t failed() {
    reader_.read([this](int writer, const std::string& json) { history_.take(writer, json); });
    return std::ranges::count_if(history_.trials(), [this](const auto& each) {
      return each.second.state == Trial::State::failed && each.second.is_over(sweep_.max_failures());
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

/// `stop_file`: "" if there are no others that stop with these groups.
void SweepRun::look_after(const std::vector<std::unique_ptr<TrialGroup>>& groups, const std::string& stop_file) {
  Pause others(pause_between_looks_at_others), heartbeat(pause_between_heartbeats), line(pause_between_lines);
  bool has_passed_on = false;
  while (working_ > 0) {
    if (batch::stop_signal() != 0) stopping_ = true;
    if (stopping_ && !std::exchange(has_passed_on, true)) {
      for (const auto& group : groups) group->stop();
      if (!stop_file.empty()) io::create_exclusive(stop_file, "");
    }
    if (heartbeat.is_over()) {
      for (const auto& group : groups) group->show_life();
      if (failures_ && failures_->has_seen_one()) stopping_ = true;
    }
    if (!stop_file.empty() && others.is_over() && io::exists(stop_file)) stopping_ = true;
    if (stop_file.empty() && line.is_over())
      log::info(fmt::format("{} of {} trials are over, {} at once here", trials_over(sweep_, history_of(sweep_)),
                            sweep_.trials(), working_.load()));
    std::this_thread::sleep_for(pause_between_looks);
  }
}

ExitCode SweepRun::run(const std::vector<std::unique_ptr<TrialRunner>>& runners) {
  std::vector<std::unique_ptr<TrialGroup>> groups;
  for (const auto& runner : runners)
    groups.push_back(std::make_unique<TrialGroup>(sweep_, *runner, stopping_, common_error_));
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
  look_after(groups, "");
  for (auto& thread : threads) thread.join();
  for (const auto& error : errors)
    if (error) std::rethrow_exception(error);
  return outcome();
}

ExitCode SweepRun::run_here(TrialRunner& runner, const std::string& stop_file) {
  std::vector<std::unique_ptr<TrialGroup>> groups;
  groups.push_back(std::make_unique<TrialGroup>(sweep_, runner, stopping_, common_error_));
  const auto path = sweep_.journal() + "/" + stop_file;
  working_ = 1;
  auto watch = thread_without_signals([&] { look_after(groups, path); });
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
  if (stopping_) io::create_exclusive(path, "");  // if the group was done before the watch saw it
  return outcome();
}

/// Groups that nobody has stopped have seen every trial over: a journal that shows fewer was listed incompletely.
History SweepRun::history_at_end() const {
  auto history = history_of(sweep_);
  for (int looks = 1; looks < max_looks_at_end && !stopping_ && trials_over(sweep_, history) < sweep_.trials(); ++looks) {
    std::this_thread::sleep_for(pause_between_looks_at_others);
    history = history_of(sweep_);
  }
  return history;
}

ExitCode SweepRun::outcome() const {
  const auto history = history_at_end();
  if (const auto text = common_error_.of_any(history); !text.empty()) {
    log::error("all trials have this error, so the sweep ends: " + text);
    return ExitCode::usage;
  }
  if (failures_ && failures_->has_seen_one()) return ExitCode::failed;
  if (trials_over(sweep_, history) < sweep_.trials()) return ExitCode::stopped;
  return have_all_failed(sweep_, history) ? ExitCode::failed : ExitCode::finished;
}

}  // namespace trainrt::tune
