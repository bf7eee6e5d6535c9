#pragma once
#include <string>

#include <trainrt/communicator.hpp>

#include "config/run_spec.hpp"

namespace trainrt::trainer {

/// What this start finds of its run.
struct ExistingRun {
  bool is_new = true;
  bool is_finished = false;      ///< there is nothing to do
  bool accepts_missing = false;  ///< checkpoints are missing, and the config accepts that
};

/// As rank 0 sees it. Refuses directories that are no run, runs of another train function, what contradicts itself, and
/// restarts that would change the global batch. A run is finished only if it holds its end. Of a run that has finished,
/// what its end left undone is done; else nothing is changed. Collective.
ExistingRun find_existing_run(const config::RunSpec& spec, const std::string& function, Communicator& communicator);

/// Returns whether the checkpoint that holds the end of a finished run is there and whole: all ranks together read it. If
/// it is not, the run is not finished, and a warning says so. True of a run that took no checkpoint. Collective.
bool holds_its_end(const std::string& run_dir, Communicator& communicator);

}  // namespace trainrt::trainer
