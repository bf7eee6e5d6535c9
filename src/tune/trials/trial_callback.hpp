#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include <trainrt/callback.hpp>

#include "tune/search/scheduler.hpp"

namespace trainrt::tune {

/// Name of the environment variable that identifies the trial to its run. Its value is TRIAL:WRITER:SWEEP_DIR.
inline constexpr const char* trial_variable = "TRAINRT_TRIAL";
std::string trial_variable_of(const std::string& sweep_dir, std::uint64_t trial, int writer);

/// Returns the reason that a run records if the scheduler stops (Kind::stop) or pauses it at report `iteration`. The text
/// is part of the file format: repair_journal() recognizes it.
std::string reason_of_stop(Verdict::Kind kind, std::int64_t iteration);

/// Returns a callback that records a trial's reports in the journal of its sweep. It ends the trial's run when the
/// scheduler decides so. `value` is the value of trial_variable. Throws UsageError if `value` names no sweep.
/// on_report() throws UsageError if a report lacks the metric.
std::shared_ptr<Callback> trial_callback(const std::string& value);

}  // namespace trainrt::tune
