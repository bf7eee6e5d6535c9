#pragma once
#include "tune/record/sweep.hpp"

namespace trainrt::cli {

/// Logs which values of tune.metric are the best, unless tune.mode is set and agrees with the name of the metric
/// (tune::direction_notice()).
void log_direction(const tune::Sweep& sweep);

/// Checks a sweep before its directory is created. Checks the configs of the first trials and, if the sweep is new, the
/// start of its first trial (trainer::check_start()).
///
/// Throws UsageError if a config is invalid. If the first trial cannot start, its own values may be the cause.
/// Therefore a second trial is checked, which has no value in common with the first one: if both fail with the same
/// message, throws UsageError; if not, the sweep is accepted, and the first trial fails later.
void check_trials(const tune::Sweep& sweep);

}  // namespace trainrt::cli
