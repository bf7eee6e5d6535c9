#include "cli/runs/read_sweep.hpp"

#include <filesystem>

#include <trainrt/result_grid.hpp>

#include "io/files/file.hpp"

namespace trainrt::cli {

std::optional<view::SweepSummary> read_sweep(const std::string& folder) {
  const auto given = std::filesystem::absolute(folder).lexically_normal();
  const auto path = given.has_filename() ? given : given.parent_path();
  if (!io::exists(path / "sweep.json")) return std::nullopt;
  const auto grid = ResultGrid::from_path(path);
  view::SweepSummary sweep{.path = grid.path, .metric = grid.metric, .minimize = grid.mode == "min", .trials = {}};
  for (const auto& trial : grid)
    sweep.trials.push_back({.name = trial.name,
                            .path = trial.path,
                            .state = rundir::state_from(trial.state).value_or(rundir::RunState::waiting),
                            .config = trial.config,
                            .reports = trial.training_iteration,
                            .best = trial.best,
                            .last = trial.last,
                            .why = trial.why});
  return sweep;
}

}  // namespace trainrt::cli
