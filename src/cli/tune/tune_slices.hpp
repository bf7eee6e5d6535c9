#pragma once
#include <functional>

#include <trainrt/error.hpp>

#include "core/environment.hpp"
#include "tune/record/sweep.hpp"

namespace trainrt::cli {

/// What the ranks of a step do with a sweep: on all of them, or on the first for all.
struct SliceSteps {
  std::function<tune::Sweep()> make;                      ///< on all; throws Error
  std::function<void(const tune::Sweep&, int)> begin;     ///< on the first, with the number of slices; throws Error
  std::function<void(const tune::Sweep&, ExitCode)> end;  ///< on the first, once all trials have ended
};

/// A sweep by the ranks of one step, of which this process is one: they are cut into slices of tune.workers ranks, and each
/// runs one trial after another without starting a process. Returns the same exit code on all ranks.
ExitCode run_in_slices(const SliceSteps& steps, const Environment& environment);

}  // namespace trainrt::cli
