#pragma once
#include "tune/record/sweep.hpp"

namespace trainrt::cli {

/// Checks the configs of a sweep's first trials, and does what a start of its first trial does up to its first step
/// (trainer::check_start()), if the sweep is new. Throws UsageError, before anything of the sweep is made, if the config is
/// invalid, or if the start of the first trial fails and that of a trial which has no value in common with it fails with
/// the same words. An error of the first trial's own values is left to that trial.
void check_trials(const tune::Sweep& sweep);

}  // namespace trainrt::cli
