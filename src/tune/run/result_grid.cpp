#include <trainrt/result_grid.hpp>

#include <algorithm>

#include <fmt/format.h>
#include <trainrt/error.hpp>
#include <trainrt/result.hpp>

#include "tune/record/claims.hpp"
#include "tune/record/stop_reason.hpp"
#include "tune/run/sweep_run.hpp"

namespace trainrt {

namespace {

/// Returns the state of a trial. If the trial's process was killed before it recorded an end, returns the state of the
/// run.
rundir::RunState state_of(const tune::History& history, std::uint64_t number, const std::string& run_dir,
                          tune::Claims& claims) {
  const auto& trial = history.trial(number);
  if (trial.attempt == 0) return rundir::RunState::waiting;
  const auto state = tune::state_of(trial.state);
  if (state != rundir::RunState::running || claims.is_running(history, number)) return state;
  try {
    return rundir::state_from(Result::from_path(run_dir).state).value_or(rundir::RunState::killed);
  } catch (const Error&) {  // no run directory was created
    return rundir::RunState::killed;
  }
}

TrialResult result_of(const tune::Sweep& sweep, const tune::History& history, std::uint64_t number, tune::Claims& claims,
                      const tune::StopReason& stop_reason) {
  const auto& trial = history.trial(number);
  const auto name = sweep.name_of(number, trial.generation);
  const auto run_dir = sweep.directory() + "/" + name;
  const bool is_begun = trial.attempt > 0;
  return {name,
          run_dir,
          std::string(rundir::word_of(state_of(history, number, run_dir, claims))),
          trial.params.empty() ? sweep.params_of(number) : trial.params,
          trial.iterations,
          trial.last,
          trial.best,
          trial.attempt,
          is_begun && trial.is_done(sweep.max_failures()),
          stop_reason.text(trial.state, trial.iterations, trial.why)};
}

}  // namespace

ResultGrid ResultGrid::from_path(const std::string& sweep_dir) {
  const auto sweep = tune::Sweep::opened(sweep_dir);
  const auto history = tune::history_of(sweep);
  constexpr int nobody = -1;
  tune::Claims claims(sweep, nobody);
  ResultGrid grid{sweep.directory(), sweep.metric(), sweep.minimize() ? "min" : "max"};
  const tune::StopReason stop_reason(sweep);
  for (std::uint64_t number = 0; number < sweep.trials(); ++number)
    grid.trials.push_back(result_of(sweep, history, number, claims, stop_reason));
  return grid;
}

const TrialResult& ResultGrid::get_best_result() const {
  const TrialResult* found = nullptr;
  for (const auto& trial : trials) {
    if (!trial.best) continue;
    if (found == nullptr || (mode == "min" ? *trial.best < *found->best : *trial.best > *found->best)) found = &trial;
  }
  if (found == nullptr)
    throw UsageError(metric.empty() ? fmt::format("the sweep in '{}' has no tune.metric, so no trial is the best", path)
                                    : fmt::format("no trial of the sweep in '{}' has reported '{}' yet", path, metric));
  return *found;
}

std::size_t ResultGrid::num_errors() const {
  return static_cast<std::size_t>(
      std::ranges::count(trials, rundir::word_of(rundir::RunState::failed), &TrialResult::state));
}

std::size_t ResultGrid::num_terminated() const {
  return static_cast<std::size_t>(
      std::ranges::count(trials, rundir::word_of(rundir::RunState::finished), &TrialResult::state));
}

}  // namespace trainrt
