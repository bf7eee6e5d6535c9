#include "cli/tune/sweep_outcome.hpp"

#include <filesystem>

#include <fmt/format.h>

#include "config/program_settings.hpp"
#include "core/text/text.hpp"
#include "tune/record/sweep_history.hpp"
#include "tune/trials/missing_metric.hpp"

namespace trainrt::cli {

namespace {

/// The ways to continue a sweep: the command that started it or, for a sweep of a Tuner, calls in Python. If searchers,
/// schedulers, stoppers or callbacks run in the script, the sweep needs this script, since Tuner.restore() restores no
/// stoppers and callbacks.
struct SweepAdvice {
  std::string to_continue, to_retry, to_start_another;
};

/// Returns advice that names Tuner.restore() and not the script: if a script does not name its sweep, it starts a new
/// sweep.
SweepAdvice advice_of_tuner(const std::string& directory) {
  const auto call = fmt::format("Tuner.restore('{}', trainable", directory);
  return {call + ").fit() continues it", call + ", resume_errored=True).fit() retries them", "RunConfig(name=...)"};
}

SweepAdvice advice_of(const tune::Sweep& sweep, const Environment& environment) {
  if (sweep.is_decided_in_script() || environment.has(config::variable_of_observer)) {
    const auto start = fmt::format("Start the same script again, with RunConfig(name='{}'), to ",
                                   std::filesystem::path(sweep.directory()).filename().string());
    return {start + "continue", start + "retry them", "RunConfig(name=...)"};
  }
  if (environment.has(config::variable_of_tuner)) return advice_of_tuner(sweep.directory());
  return {"Run the same command again to continue", "Run the same command again to retry them", "run.name"};
}

}  // namespace

std::string sweep_outcome(const tune::Sweep& sweep, ExitCode code, const Environment& environment) {
  const auto advice = advice_of(sweep, environment);
  const auto status = "trainrt tune status " + shell_quoted(sweep.directory());
  if (code == ExitCode::stopped) return "the sweep was stopped. " + advice.to_continue;
  if (code == ExitCode::usage && tune::lacks_metric(sweep, tune::history_of(sweep)))
    return "the sweep was stopped. " + tune::metric_advice(sweep.metric_origin());
  if (code == ExitCode::usage)
    return fmt::format("the sweep has failed. Fix the error above and start a sweep with another {}. Trials so far: {}",
                       advice.to_start_another, status);
  if (code == ExitCode::failed && sweep.fail_fast())
    return fmt::format("the sweep was stopped because a trial has failed (tune.fail_fast = true). {} with the other trials",
                       advice.to_continue);
  if (code == ExitCode::failed)
    return fmt::format("all trials have failed. To see why, run: {}. {}", status, advice.to_retry);
  return fmt::format("the sweep is complete. Results: {}", status);
}

}  // namespace trainrt::cli
