#pragma once
#include <string>

#include "config/run_spec.hpp"
#include "rundir/records/run_record.hpp"

namespace trainrt::trainer {

/// Returns the config values of `spec` that must be compared with the values in run.json.
rundir::ConfigTexts compared_texts(const config::RunSpec& spec);

/// Returns the config values of `spec` whose changes are printed and recorded in run.json. These are compared_texts(),
/// the keys that select which checkpoints are kept, and the keys that limit restarts.
rundir::ConfigTexts recorded_texts(const config::RunSpec& spec);

/// Returns whether the run belongs to a Python Trainer, or to a trial of a Python Tuner: its record has their values.
bool has_values_of_trainer(const rundir::RunRecord& record);

/// Returns whether fit() in a Python script launched the last attempt of the run. The run's name and the values of its
/// Trainer are then on the command line of the launch, which does not name the script.
bool was_launched_by_fit(const rundir::RunRecord& record);

/// Copies train.program from `spec` to `record` if fit() in a Python script launched the last attempt or this one, and
/// the run belongs to a Trainer. The commands of two launches always differ, so only the Trainer's values are compared.
void accept_program_of_fit(rundir::RunRecord& record, const config::RunSpec& spec);

/// Returns whether the run of `record` has finished with the values of `spec`. Returns false if the run has not finished,
/// or if `spec` makes the run longer: more epochs or steps in [loop], or a later rule in [stop]. Throws UsageError if the
/// run has finished with other values. The message lists the differences and the possible commands.
bool has_finished(const rundir::RunRecord& record, const config::RunSpec& spec);

/// Logs a warning for each file of the user's code that has changed since the last attempt of the run. `event` describes
/// the end of the last attempt in the message: "the run 'r' finished".
void warn_of_changed_code(const rundir::RunRecord& record, const config::RunSpec& spec, const std::string& event);

}  // namespace trainrt::trainer
