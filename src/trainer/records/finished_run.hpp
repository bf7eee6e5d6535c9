#pragma once
#include <string>

#include "config/run_spec.hpp"
#include "rundir/records/run_record.hpp"

namespace trainrt::trainer {

/// Returns the config values that must be compared with those in run.json.
rundir::ConfigTexts compared_texts(const config::RunSpec& spec);

/// Returns whether the run of this record has finished with the values of `spec`, so that nothing is left to do. Returns
/// false if it has not finished, or if `spec` lets it continue: more epochs or steps in [loop], or a later rule of [stop].
/// Throws UsageError if it has finished with other values; the message lists the differences and the possible commands.
/// Changes nothing.
bool has_finished(const rundir::RunRecord& record, const config::RunSpec& spec);

/// Logs a warning for each file of the user's code that has changed since the last attempt of the run. `event` is the end
/// of that attempt for the message: "the run 'r' finished".
void warn_of_changed_code(const rundir::RunRecord& record, const config::RunSpec& spec, const std::string& event);

}  // namespace trainrt::trainer
