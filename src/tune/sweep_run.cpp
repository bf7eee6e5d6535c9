#include "tune/sweep_run.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <memory>
#include <thread>

#include <fmt/format.h>
#include <trainrt/result.hpp>

#include "batch/signals.hpp"
#include "core/log.hpp"
#include "core/text.hpp"
#include "core/thread.hpp"
#include "io/exclusive.hpp"
#include "tune/asked_params.hpp"
#include "tune/trial_callback.hpp"

namespace trainrt::tune {

namespace {

using namespace std::chrono_literals;

constexpr auto pause_between_looks = 50ms;  // at signals
constexpr auto pause_if_idle = 1s;          // a look at the journal and the claims of others
constexpr auto pause_between_heartbeats = 5s;
constexpr auto pause_between_lines = 60s;

/// All reports' numbers of the metric; empty if it is none, or there are no reports.
std::vector<double> numbers_of(const Result& result, const std::string& metric) {
  const auto column = result.columns.find(metric);
  if (column == result.columns.end()) return {};
  if (const auto* reals = std::get_if<std::vector<double>>(&column->second)) return *reals;
  const auto* whole = std::get_if<std::vector<std::int64_t>>(&column->second);
  return whole == nullptr ? std::vector<double>() : std::vector<double>(whole->begin(), whole->end());
}

std::string params_in_words(const Params& params) {
  std::vector<std::string> words;
  for (const auto& [key, value] : params)
    words.push_back(fmt::format("{}={}", key.starts_with("loop.") ? key.substr(5) : key, value));
  return join(words);
}

std::uint64_t trials_over(const Sweep& sweep, const History& history) {
  return static_cast<std::uint64_t>(
      std::ranges::count_if(history.trials(), [&](const auto& each) { return each.second.is_over(sweep.max_failures()); }));
}

}  // namespace

History history_of(const Sweep& sweep) {
  History history;
  JournalReader reader(sweep.journal());
  reader.read([&](int writer, const std::string& json) { history.take(writer, json); });
  return history;
}

/// One trial after another, in a thread.
class SweepRun::Group {
 public:
  explicit Group(SweepRun& run)
      : run_(run),
        sweep_(run.sweep_),
        writer_(JournalWriter::claimed(sweep_.journal())),
        reader_(sweep_.journal()),
        claims_(sweep_, writer_.number()) {
    writer_.append(writer_record(rundir::this_owner()), true);
    thread_ = thread_without_signals([this] { work(); });
  }
  ~Group() { thread_.join(); }

  void stop() {
    const std::lock_guard lock(mutex_);
    if (process_ != nullptr) process_->signal(SIGUSR1);
  }
  void show_life() const { io::touch(writer_.path()); }
  const std::string& error() const { return error_; }

 private:
  void work() {
    try {
      while (!run_.stopping_ && one_step()) {
      }
    } catch (const std::exception& error) {
      error_ = error.what();
      run_.stopping_ = true;
    }
    --run_.working_;
  }

  /// False if every trial is over.
  bool one_step() {
    catch_up();
    if (const auto claim = claims_.next(history_)) {
      run_trial(*claim);
      return true;
    }
    if (trials_over(sweep_, history_) >= sweep_.trials()) return false;
    std::this_thread::sleep_for(pause_if_idle);
    return true;
  }

  void catch_up() {
    reader_.read([this](int writer, const std::string& json) { history_.take(writer, json); });
  }

  void run_trial(const Claim& claim) {
    const auto params = params_of(claim.trial);
    writer_.append(begin_record(claim.trial, claim.attempt, sweep_.searcher_program().empty() ? Params() : params), true);
    const auto code = run_process(claim.trial, params);
    catch_up();
    const auto end = end_of(claim, code);
    writer_.append(end_record(end), true);
    catch_up();
    say(end, params);
    if (end.state == Trial::State::paused) run_.stopping_ = true;  // the job's time is over, or a signal came
  }

  Params params_of(std::uint64_t trial) const {
    if (sweep_.searcher_program().empty()) return sweep_.params_of(trial);
    const auto known = history_.trials().find(trial);
    const bool is_said = known != history_.trials().end() && !known->second.params.empty();
    return is_said ? known->second.params : asked_params(sweep_, trial, history_);
  }

  int run_process(std::uint64_t trial, const Params& params) {
    auto words = run_.command_;
    words.emplace_back("--config");
    words.push_back(sweep_.config_file());
    for (const auto& [key, value] : sweep_.own_config_of(trial, params).texts())
      words.push_back(fmt::format("--{}={}", key, value));
    const auto output = fmt::format("{}/{}.log", sweep_.directory(), sweep_.name_of(trial));
    const std::pair<std::string, std::string> variable{trial_variable,
                                                       trial_variable_of(sweep_.directory(), trial, writer_.number())};
    TrialProcess process(words, variable, output);
    {
      const std::lock_guard lock(mutex_);
      process_ = &process;
    }
    if (run_.stopping_) process.signal(SIGUSR1);  // the signal came before it was there
    const auto code = process.wait();
    const std::lock_guard lock(mutex_);
    process_ = nullptr;
    return code;
  }

  TrialEnd end_of(const Claim& claim, int code) const {
    TrialEnd end{.trial = claim.trial, .attempt = claim.attempt};
    const auto run_dir = sweep_.directory() + "/" + sweep_.name_of(claim.trial);
    try {
      take_result(Result::from_path(run_dir), end);
    } catch (const Error&) {  // it did not come to make one
      end.why = fmt::format("exit {}; {}.log says why", code, run_dir);
    }
    const bool was_ended = std::ranges::any_of(
        history_.decisions(), [&](const auto& decision) { return decision.trial == claim.trial && decision.stops; });
    if (code == static_cast<int>(ExitCode::finished)) {
      end.state = was_ended ? Trial::State::stopped : Trial::State::finished;
      end.why = was_ended ? fmt::format("by the scheduler, at report {}", end.iterations) : "";
    } else if (code == static_cast<int>(ExitCode::stopped) || was_asked_to_stop(code)) {
      end.state = Trial::State::paused;
    } else {
      end.state = Trial::State::failed;
      if (end.why.empty()) end.why = fmt::format("exit {}; {}.log says more", code, run_dir);
    }
    return end;
  }

  void take_result(const Result& result, TrialEnd& end) const {
    end.why = first_line(result.error);
    const auto numbers = numbers_of(result, sweep_.metric());
    if (const auto found = result.metrics.find("_training_iteration"); found != result.metrics.end())
      end.iterations = static_cast<std::int64_t>(as_real(found->second));
    if (numbers.empty()) return;
    end.last = numbers.back();
    end.best = *std::ranges::max_element(numbers, {}, [this](double number) { return sweep_.score_of(number); });
  }

  /// The signal came before the trial could take it.
  bool was_asked_to_stop(int code) const {
    constexpr int signalled = 128;
    return run_.stopping_ && code == signalled + SIGUSR1;
  }

  void say(const TrialEnd& end, const Params& params) const {
    const auto shown =
        end.last ? fmt::format(": {} {:.6g} after {}", sweep_.metric(), *end.last, counted(end.iterations, "report")) : "";
    const auto line = fmt::format("{} ({}) {}{}{}; {} of {} are over", sweep_.name_of(end.trial), params_in_words(params),
                                  name_of(end.state), shown, end.why.empty() ? "" : ": " + end.why,
                                  trials_over(sweep_, history_), sweep_.trials());
    end.state == Trial::State::failed ? log::warning(line) : log::info(line);
  }

  SweepRun& run_;
  const Sweep& sweep_;
  JournalWriter writer_;
  JournalReader reader_;
  History history_;
  Claims claims_;
  std::mutex mutex_;
  TrialProcess* process_ = nullptr;
  std::string error_;
  std::thread thread_;
};

void SweepRun::look_after(std::vector<std::unique_ptr<Group>>& groups) {
  auto told_at = std::chrono::steady_clock::now();
  auto line_at = told_at;
  bool has_passed_on = false;
  while (working_ > 0) {
    if (batch::stop_signal() != 0) stopping_ = true;
    if (stopping_ && !std::exchange(has_passed_on, true))
      for (const auto& group : groups) group->stop();
    const auto now = std::chrono::steady_clock::now();
    if (now - told_at >= pause_between_heartbeats) {
      for (const auto& group : groups) group->show_life();
      told_at = now;
    }
    if (now - line_at >= pause_between_lines) {
      log::info(fmt::format("{} of {} trials are over, {} at once here", trials_over(sweep_, history_of(sweep_)),
                            sweep_.trials(), working_.load()));
      line_at = now;
    }
    std::this_thread::sleep_for(pause_between_looks);
  }
}

ExitCode SweepRun::run(int count) {
  std::vector<std::unique_ptr<Group>> groups;
  working_ = count;
  try {
    for (int i = 0; i < count; ++i) groups.push_back(std::make_unique<Group>(*this));
  } catch (...) {
    stopping_ = true;  // or those that were begun would run all trials before the error is told
    for (const auto& group : groups) group->stop();
    throw;
  }
  look_after(groups);
  for (const auto& group : groups)
    if (!group->error().empty()) throw Error(group->error());
  return outcome();
}

ExitCode SweepRun::outcome() const {
  const auto history = history_of(sweep_);
  if (trials_over(sweep_, history) < sweep_.trials()) return ExitCode::stopped;
  const bool all_failed =
      std::ranges::all_of(history.trials(), [](const auto& each) { return each.second.state == Trial::State::failed; });
  return all_failed ? ExitCode::failed : ExitCode::finished;
}

}  // namespace trainrt::tune
