#pragma once
#include <functional>

#include <trainrt/error.hpp>

#include "core/environment.hpp"
#include "tune/record/sweep.hpp"

namespace trainrt::cli {

/// The steps of a sweep that run_in_slices() leaves to its caller.
struct SweepSteps {
  std::function<tune::Sweep()> load;                          ///< loads the sweep's config, on all ranks; may throw Error
  std::function<void(const tune::Sweep&, int slices)> begin;  ///< on rank 0, before the first trial; may throw Error
  /// Called on rank 0, after the last trial. `error`: the error that all trials share, or "".
  std::function<void(const tune::Sweep&, ExitCode code, const std::string& error)> end;
};

/// Runs a sweep on the ranks of one job step; this process is one of them. The ranks are divided into slices of
/// tune.workers ranks. Each slice trains one trial after another, without starting processes. Returns the same exit
/// code on all ranks.
ExitCode run_in_slices(const SweepSteps& steps, const Environment& environment);

}  // namespace trainrt::cli
