#pragma once
#include <cstdint>

#include "tune/record/history.hpp"
#include "tune/record/sweep.hpp"

namespace trainrt::tune {

/// Reads the complete journal of a sweep.
History history_of(const Sweep& sweep);

/// Returns the number of trials that are done and will not be run again.
std::uint64_t trials_done(const Sweep& sweep, const History& history);

/// Returns whether all trials are done and all have failed.
bool have_all_failed(const Sweep& sweep, const History& history);

/// Returns whether any trial has reported tune.metric. If the end of a trial is not recorded, the function reads the
/// run directory of the trial.
bool has_metric(const Sweep& sweep, const History& history);

/// Returns whether a trial has failed because it did not report tune.metric, and no trial has reported it.
bool lacks_metric(const Sweep& sweep, const History& history);

}  // namespace trainrt::tune
