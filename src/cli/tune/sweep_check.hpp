#pragma once
#include "tune/record/sweep.hpp"

namespace trainrt::cli {

/// Checks a sweep before its directory is created: the configs of the first trials and, if the sweep is new, the start of
/// its first trial (trainer::check_start()).
///
/// Throws UsageError if a config is invalid, or if the first trial cannot start and another trial, all of whose values
/// differ, fails with the same message. If only the values of the first trial are invalid, that trial fails later.
void check_trials(const tune::Sweep& sweep);

}  // namespace trainrt::cli
