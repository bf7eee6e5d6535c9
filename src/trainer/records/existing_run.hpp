#pragma once
#include <string>

#include <trainrt/communicator.hpp>

#include "config/run_spec.hpp"

namespace trainrt::trainer {

/// The status of a run directory when a run is started.
struct ExistingRun {
  bool is_new = true;            ///< the run does not exist yet
  bool is_finished = false;      ///< the run has finished; stays_finished() checks its last checkpoint
  bool accepts_missing = false;  ///< checkpoints are missing, and the config accepts that; set on rank 0
};

/// Returns the status of the run directory, which rank 0 reads. Changes nothing. Collective. Throws AgreedError if
/// - the directory exists and is not a run
/// - the run has another train function than `function`
/// - the records and the checkpoints of the run contradict each other
/// - a restart on `ranks` ranks would change the global batch, and the config forbids the change (not checked if `ranks` is
///   0)
ExistingRun find_existing_run(const config::RunSpec& spec, const std::string& function, Communicator& communicator,
                              int ranks);

/// Returns whether a finished run remains finished, since its last checkpoint is intact. Then also removes leftovers of the
/// last attempt. If the function returns false, the run must continue. Throws AgreedError if continuing would change the
/// global batch and the config forbids the change. Collective. May take as long as a load of the checkpoint.
bool stays_finished(const config::RunSpec& spec, Communicator& communicator);

/// Returns whether the checkpoint with which the run finished exists and is intact. Returns true if the run finished
/// without a checkpoint. Logs a warning before it returns false. Collective: the ranks read the checkpoint together.
bool holds_its_end(const std::string& run_dir, Communicator& communicator);

}  // namespace trainrt::trainer
