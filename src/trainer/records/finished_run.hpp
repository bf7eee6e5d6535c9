#pragma once
#include <string>

#include "config/run_spec.hpp"
#include "rundir/records/run_record.hpp"

namespace trainrt::trainer {

/// The values of a start that a run's record compares, and lists as changes.
rundir::ConfigTexts compared_texts(const config::RunSpec& spec);

/// Returns whether the run of this record finished with the values of `spec`, so that nothing is left to do. False if it is
/// not finished, or if `spec` lets it continue: more epochs or steps in [loop], or a later rule of [stop]. Throws
/// UsageError if it finished with other values; the text lists the differences and the commands that can follow. Changes
/// nothing.
bool has_finished(const rundir::RunRecord& record, const config::RunSpec& spec);

/// Logs a warning for each file of the user's code that has changed since the run's last attempt. `event` is when the
/// results were made: "the run 'r' finished".
void warn_of_changed_code(const rundir::RunRecord& record, const config::RunSpec& spec, const std::string& event);

}  // namespace trainrt::trainer
