#pragma once
#include <string>

#include <trainrt/communicator.hpp>

#include "config/run_spec.hpp"

namespace trainrt::trainer {

/// The status of the run directory at a start.
struct ExistingRun {
  bool is_new = true;            ///< there is no such run yet
  bool is_finished = false;      ///< the run has finished; stays_finished() checks its last checkpoint
  bool accepts_missing = false;  ///< checkpoints are missing, and the config accepts that; set on rank 0
};

/// Reads the run directory on rank 0, and changes nothing. Collective; throws AgreedError if
/// - the directory exists and is not a run
/// - the run has another train function
/// - its records and checkpoints contradict each other
/// - a restart on `ranks` ranks would change the global batch, and the config forbids that (not checked if `ranks` is 0)
ExistingRun find_existing_run(const config::RunSpec& spec, const std::string& function, Communicator& communicator,
                              int ranks);

/// Returns whether a finished run has its last checkpoint, so that nothing is left to do, and removes leftovers of its last
/// attempt. If it returns false, the run continues; AgreedError if that would change the global batch. Collective; may take
/// as long as a load.
bool stays_finished(const config::RunSpec& spec, Communicator& communicator);

/// Returns whether the checkpoint with which the run finished exists and is intact; true if the run has finished without a
/// checkpoint. Logs a warning if not. All ranks read the checkpoint together. Collective.
bool holds_its_end(const std::string& run_dir, Communicator& communicator);

}  // namespace trainrt::trainer
