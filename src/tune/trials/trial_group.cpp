#include "tune/trials/trial_group.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "checkpoint/format/listing.hpp"
#include "core/output/log.hpp"
#include "core/short_number.hpp"
#include "core/text/text.hpp"
#include "io/files/exclusive.hpp"
#include "rundir/attempts/attempt_files.hpp"
#include "tune/decisions/cloning.hpp"
#include "tune/decisions/searcher_program.hpp"
#include "tune/record/decision_log.hpp"
#include "tune/record/stop_reason.hpp"
#include "tune/record/sweep_mirror.hpp"
#include "tune/record/trial_workers.hpp"
#include "tune/trials/shown_params.hpp"
#include "tune/trials/trial_callback.hpp"
#include "tune/trials/trial_end.hpp"
#include "tune/trials/unread_keys.hpp"

namespace trainrt::tune {

namespace {

constexpr auto pause_if_idle = std::chrono::seconds(1);  // between two scans of the journal if no trial can be run

}  // namespace

TrialGroup::TrialGroup(const Sweep& sweep, TrialRunner& runner, std::atomic<bool>& stopping,
                       const CommonError& common_error, std::mutex& ends)
    : sweep_(sweep),
      runner_(runner),
      stopping_(stopping),
      common_error_(common_error),
      ends_(ends),
      writer_(JournalWriter::claimed(sweep_.journal())),
      reader_(sweep_.journal()),
      claims_(sweep_, writer_.number()) {
  writer_.append(writer_record(rundir::this_owner()), true);
  put_journal_into_mirror(sweep_, writer_.number());
}

void TrialGroup::work() {
  while (!stopping_ && run_next()) {
  }
}

void TrialGroup::touch_heartbeat() const { io::touch(writer_.path()); }

/// Runs a trial, records the end of a paused trial, or waits if no trial can be run. Returns false if all trials are done.
bool TrialGroup::run_next() {
  catch_up();
  if (const auto claim = claims_.next(history_, feed_.scheduler())) {
    claim->ends ? end_trial(*claim) : run_trial(*claim);
    put_journal_into_mirror(sweep_, writer_.number());
    return true;
  }
  if (trials_done(sweep_, history_) >= sweep_.trials()) return false;
  runner_.idle();
  std::this_thread::sleep_for(pause_if_idle);
  return true;
}

void TrialGroup::catch_up() {
  reader_.read([this](int writer, const std::string& json) { history_.take(writer, json); });
  feed_.follow(history_);
}

void TrialGroup::run_trial(const Claim& claim) {
  if (write_lost_failure(claim)) return;
  decide_on_paused(claim.trial);
  if (history_.trial(claim.trial).cloning) become_clone(claim.trial);
  const auto before = history_.trial(claim.trial);
  const bool is_asked = before.params.empty() && !sweep_.searcher_program().empty();
  const auto params = is_asked                ? ask_searcher_program(sweep_, claim.trial, history_)
                      : before.params.empty() ? sweep_.params_of(claim.trial)
                                              : before.params;
  writer_.append(begin_record(claim.trial, claim.attempt, before.generation, is_asked ? params : Params()), true);
  const auto code = run_ranks(claim.trial, params, {before.generation, start_of_clone(sweep_, before.clone_of)});
  if (!std::exchange(has_mirrored_tuner_, true)) put_tuner_record_into_mirror(config::make_run_spec(sweep_.trial_config()));
  catch_up();
  const auto end = end_of(sweep_, history_, claim, code, stopping_);
  write_end(end, params);
  if (end.state != Trial::State::paused) return;
  if (history_.trial(claim.trial).halts == before.halts)
    stopping_ = true;  // a signal, or the end of the job's time
  else if (!has_checkpoint(claim.trial, before.generation))
    log::warning(
        fmt::format("{} was paused without a checkpoint and will start from the beginning. The train function must save "
                    "checkpoints (checkpoint.every)",
                    sweep_.name_of(claim.trial)));
}

/// Records the failure of a trial that crashed the processes that ran it. The failure is read from the trial's run
/// directory. Without this record, other processes would run the trial again, and each of them would crash. Returns
/// false if the run directory contains no such failure.
bool TrialGroup::write_lost_failure(const Claim& claim) {
  const auto trial = history_.trial(claim.trial);
  if (trial.attempt == 0 || trial.state != Trial::State::running) return false;
  const auto run_dir = sweep_.directory() + "/" + sweep_.name_of(claim.trial, trial.generation);
  const auto newest = rundir::read_attempts(run_dir, 1);
  if (newest.empty() || newest.back().end.empty() || !newest.back().why.starts_with("failed")) return false;
  write_end(end_of(sweep_, history_, claim, newest.back().exit_code, false),
            trial.params.empty() ? sweep_.params_of(claim.trial) : trial.params);
  return true;
}

bool TrialGroup::has_checkpoint(std::uint64_t trial, int generation) const {
  return checkpoint::highest_number(sweep_.directory() + "/" + sweep_.name_of(trial, generation)) >= 0;
}

void TrialGroup::write_end(const TrialEnd& end, const Params& params) {
  const std::lock_guard lock(ends_);
  writer_.append(end_record(end), true);
  catch_up();
  const auto now = history_.trial(end.trial);
  if (now.has_succeeded()) remove_clone(sweep_, end.trial, now.generation);
  if (sweep_.fail_fast() && now.state == Trial::State::failed && now.is_done(sweep_.max_failures())) stopping_ = true;
  const bool ends_sweep = !common_error_.of_trial(history_, end.trial).empty();
  if (ends_sweep) stopping_ = true;
  if (!ends_sweep || !end.missing_metric) log_end(end, params, now);  // SweepRun reports the missing metric
}

/// Ends a paused trial that the scheduler has stopped in the meantime.
void TrialGroup::end_trial(const Claim& claim) {
  const auto trial = history_.trial(claim.trial);  // a copy: the history grows
  const auto& [at, score] = *trial.reports.rbegin();
  const Decision decision{{claim.trial, at, score}, {Verdict::Kind::stop}};
  DecisionLog(sweep_.journal(), writer_.number()).write(decision, reader_.positions());
  catch_up();
  write_end(end_of(sweep_, history_, claim, static_cast<int>(ExitCode::finished), false),
            trial.params.empty() ? sweep_.params_of(claim.trial) : trial.params);
}

/// Records that a paused trial becomes a clone, if the scheduler has decided this since the pause.
void TrialGroup::decide_on_paused(std::uint64_t trial) {
  const auto& known = history_.trial(trial);
  if (known.cloning || known.reports.empty()) return;
  const auto& [at, score] = *known.reports.rbegin();
  const auto verdict = feed_.scheduler().verdict_on_paused(trial);
  if (verdict.kind != Verdict::Kind::clone) return;
  DecisionLog(sweep_.journal(), writer_.number()).write({{trial, at, score}, verdict}, reader_.positions());
  catch_up();
}

void TrialGroup::become_clone(std::uint64_t trial) {
  const auto donor = sweep_.name_of(history_.trial(trial).cloning->verdict.donor);
  const auto clone = make_clone(sweep_, feed_.scheduler(), history_, trial);
  writer_.append(clone_record(clone), true);
  put_journal_into_mirror(sweep_, writer_.number());
  if (clone.checkpoint.empty()) {
    log::warning(fmt::format(
        "{} cannot become a clone of {}, which has no checkpoint, and continues unchanged. The train function must "
        "save checkpoints (checkpoint.every)",
        sweep_.name_of(trial), donor));
  } else {
    log::info(fmt::format("{} becomes a clone of {}: {}", sweep_.name_of(trial), donor, params_in_words(clone.params)));
    remove_clone(sweep_, trial, clone.generation - 1);
  }
  catch_up();
}

int TrialGroup::run_ranks(std::uint64_t trial, const Params& params, const CloneStart& start) {
  std::vector<std::string> words{"--config", sweep_.config_file()};
  for (const auto& [key, value] : sweep_.own_config_of(trial, params, start).texts())
    words.push_back(fmt::format("--{}={}", key, value));
  return runner_.run({std::move(words), trial_variable_of(sweep_.directory(), trial, writer_.number()),
                      fmt::format("{}/{}.log", sweep_.directory(), sweep_.name_of(trial)),
                      workers_of(params, sweep_.common_workers())});
}

void TrialGroup::log_end(const TrialEnd& end, const Params& params, const Trial& trial) const {
  const auto shown =
      end.last ? fmt::format(": {} {:.6g} after {}", sweep_.metric(), *end.last, counted(end.iterations, "report")) : "";
  const auto why = StopReason(sweep_).text(end.state, end.iterations, end.why);
  const auto name = sweep_.name_of(end.trial, trial.generation);
  const auto values = params_in_words(params, fmt::format("{}/suggestions/{}.json", sweep_.directory(), name));
  const auto line = fmt::format("{}{} {}{}{}; {} of {} trials done", name, values.empty() ? "" : " (" + values + ")",
                                rundir::word_of(state_of(end.state)), shown, why.empty() ? "" : ": " + why,
                                trials_done(sweep_, history_), sweep_.trials());
  end.state == Trial::State::failed ? log::warning(line) : log::info(line);
  if (end.trial > 0) return;  // other trials have the same warnings
  const auto log = fmt::format("{}/{}.log", sweep_.directory(), sweep_.name_of(end.trial));
  for (const auto& warning : unread_keys_in(log, sweep_.space().dimensions())) log::warning(name + ": " + warning);
}

}  // namespace trainrt::tune
