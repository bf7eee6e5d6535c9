#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include <trainrt/callback.hpp>

#include "tune/search/scheduler.hpp"

namespace trainrt::tune {

/// The environment variable that tells a run which trial it is: TRIAL:WRITER:SWEEP_DIR.
inline constexpr const char* trial_variable = "TRAINRT_TRIAL";
std::string trial_variable_of(const std::string& sweep_dir, std::uint64_t trial, int writer);

/// The reason that the run of a trial gives for an end by the scheduler: it ends the trial (Kind::stop) or pauses it.
std::string reason_of_stop(Verdict::Kind kind, std::int64_t iteration);

/// What keeps a trial's reports in the sweep's journal, and ends its run if the scheduler says so. UsageError if `value`,
/// of the variable, names no sweep; Error in on_report() if the report lacks the metric.
std::shared_ptr<Callback> trial_callback(const std::string& value);

}  // namespace trainrt::tune
