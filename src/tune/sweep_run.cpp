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
#include "checkpoint/format/listing.hpp"
#include "core/log.hpp"
#include "core/text.hpp"
#include "core/thread.hpp"
#include "io/exclusive.hpp"
#include "tune/asked_params.hpp"
#include "tune/cloning.hpp"
#include "tune/decision_log.hpp"
#include "tune/scheduler_feed.hpp"
#include "tune/trial_callback.hpp"
#include "tune/trial_end.hpp"

namespace trainrt::tune {

namespace {

using namespace std::chrono_literals;

constexpr auto pause_between_looks = 50ms;  // at signals
constexpr auto pause_if_idle = 1s;          // a look at the journal and the claims of others
constexpr auto pause_between_heartbeats = 5s;
constexpr auto pause_between_lines = 60s;

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
    if (const auto claim = claims_.next(history_, feed_.scheduler())) {
      claim->ends ? end_trial(*claim) : run_trial(*claim);
      return true;
    }
    if (trials_over(sweep_, history_) >= sweep_.trials()) return false;
    std::this_thread::sleep_for(pause_if_idle);
    return true;
  }

  void catch_up() {
    reader_.read([this](int writer, const std::string& json) { history_.take(writer, json); });
    feed_.follow(history_);
  }

  void run_trial(const Claim& claim) {
    if (history_.trial(claim.trial).cloning) become_clone(claim.trial);
    const auto before = history_.trial(claim.trial);
    const bool is_asked = before.params.empty() && !sweep_.searcher_program().empty();
    const auto params = is_asked                ? asked_params(sweep_, claim.trial, history_)
                        : before.params.empty() ? sweep_.params_of(claim.trial)
                                                : before.params;
    writer_.append(begin_record(claim.trial, claim.attempt, before.generation, is_asked ? params : Params()), true);
    const auto code = run_process(claim.trial, params, {before.generation, before.clone_of});
    catch_up();
    const auto end = end_of(sweep_, history_, claim, code, run_.stopping_);
    write_end(end, params);
    if (end.state != Trial::State::paused) return;
    if (history_.trial(claim.trial).halts == before.halts)
      run_.stopping_ = true;  // a signal, or the end of the job's time
    else if (!has_checkpoint(claim.trial, before.generation))
      log::warning(
          fmt::format("{} is paused and has no checkpoint: it begins anew. Does the train function save any? "
                      "(checkpoint.every)",
                      sweep_.name_of(claim.trial)));
  }

  bool has_checkpoint(std::uint64_t trial, int generation) const {
    return checkpoint::highest_number(sweep_.directory() + "/" + sweep_.name_of(trial, generation)) >= 0;
  }

  void write_end(const TrialEnd& end, const Params& params) {
    writer_.append(end_record(end), true);
    catch_up();
    const auto now = history_.trial(end.trial);
    if (now.has_ended_well()) remove_clone(sweep_, end.trial, now.generation);
    if (sweep_.fail_fast() && now.state == Trial::State::failed && now.is_over(sweep_.max_failures()))
      run_.has_failed_ = run_.stopping_ = true;
    say(end, params, now);
  }

  /// The scheduler has said so since the trial was paused.
  void end_trial(const Claim& claim) {
    const auto trial = history_.trial(claim.trial);  // a copy: the history grows
    const auto& [at, score] = *trial.reports.rbegin();
    const Decision decision{{claim.trial, at, score}, {Verdict::Kind::stop}};
    DecisionLog(sweep_.journal(), writer_.number()).write(decision, reader_.positions());
    catch_up();
    write_end(end_of(sweep_, history_, claim, static_cast<int>(ExitCode::finished), false),
              trial.params.empty() ? sweep_.params_of(claim.trial) : trial.params);
  }

  void become_clone(std::uint64_t trial) {
    const auto donor = sweep_.name_of(history_.trial(trial).cloning->verdict.donor);
    const auto clone = made_clone(sweep_, feed_.scheduler(), history_, trial);
    writer_.append(clone_record(clone), true);
    if (clone.checkpoint.empty()) {
      log::warning(
          fmt::format("{} would become a clone of {}, which has no checkpoint, and goes on as it is: does the train "
                      "function save any? (checkpoint.every)",
                      sweep_.name_of(trial), donor));
    } else {
      log::info(fmt::format("{} becomes a clone of {}: {}", sweep_.name_of(trial), donor, params_in_words(clone.params)));
      remove_clone(sweep_, trial, clone.generation - 1);
    }
    catch_up();
  }

  int run_process(std::uint64_t trial, const Params& params, const CloneStart& start) {
    auto words = run_.command_;
    words.emplace_back("--config");
    words.push_back(sweep_.config_file());
    for (const auto& [key, value] : sweep_.own_config_of(trial, params, start).texts())
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

  void say(const TrialEnd& end, const Params& params, const Trial& trial) const {
    const auto shown =
        end.last ? fmt::format(": {} {:.6g} after {}", sweep_.metric(), *end.last, counted(end.iterations, "report")) : "";
    const auto line = fmt::format("{} ({}) {}{}{}; {} of {} are over", sweep_.name_of(end.trial, trial.generation),
                                  params_in_words(params), name_of(end.state), shown, end.why.empty() ? "" : ": " + end.why,
                                  trials_over(sweep_, history_), sweep_.trials());
    end.state == Trial::State::failed ? log::warning(line) : log::info(line);
  }

  SweepRun& run_;
  const Sweep& sweep_;
  JournalWriter writer_;
  JournalReader reader_;
  History history_;
  SchedulerFeed feed_{sweep_};
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
  if (has_failed_) return ExitCode::failed;
  if (trials_over(sweep_, history) < sweep_.trials()) return ExitCode::stopped;
  const bool all_failed =
      std::ranges::all_of(history.trials(), [](const auto& each) { return each.second.state == Trial::State::failed; });
  return all_failed ? ExitCode::failed : ExitCode::finished;
}

}  // namespace trainrt::tune
