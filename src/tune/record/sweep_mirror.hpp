#pragma once
#include <string>

#include "config/run_spec.hpp"

namespace trainrt::tune {

class Sweep;

// The mirror of a sweep. Each trial is mirrored to MIRROR/SWEEP/TRIAL. The sweep's config is stored in MIRROR/SWEEP, so
// that trials of a different sweep with the same name are recognized. `spec` is the run specification of the sweep.

/// Returns the text of the sweep's file `name` in the mirror. Returns "" if the file or the mirror does not exist.
/// Throws Error if the store cannot be reached.
std::string config_in_mirror(const config::RunSpec& spec, const std::string& name);

/// Copies the file `name` of the sweep's directory to the mirror, unless the mirror already has it.
void put_config_into_mirror(const config::RunSpec& spec, const std::string& name);

/// Copies the run directories of all trials from their mirrors, with their newest checkpoints. repair_journal() can then
/// write the journal of a lost sweep. Another process may call it at the same time.
void restore_trials_from_mirror(const Sweep& sweep);

/// Restores a sweep with clones whose directory was lost. Copies from the mirror: the journal, the newest generation of
/// each trial, and, for each clone that has no checkpoint of its own, the checkpoint of its donor (the trial that was
/// cloned) from which the clone starts. If the mirror lacks this checkpoint, copies the donor's newest checkpoint instead.
/// Returns false, and copies nothing, if the mirror has no journal. Throws UsageError if the mirror has no checkpoint from
/// which a clone can start.
bool restore_clones_from_mirror(const Sweep& sweep);

/// Copies the journal file `number` to the mirror of a sweep with clones, since the journal is the only
/// record of clones. Does nothing for other sweeps or without a mirror. Logs a warning if the copy fails.
void put_journal_into_mirror(const Sweep& sweep, int number);

/// Copies tuner.json, which rank 0 of a trial of a Python Tuner writes, to the mirror. Does nothing if the file or the
/// mirror does not exist. Logs a warning if the copy fails.
void put_tuner_record_into_mirror(const config::RunSpec& spec);

}  // namespace trainrt::tune
