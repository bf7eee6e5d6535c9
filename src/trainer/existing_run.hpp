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
/// restarts that would change the global batch. Of a run that has finished, what its end left undone is done; else nothing
/// is changed. Collective.
ExistingRun find_existing_run(const config::RunSpec& spec, const std::string& function, Communicator& communicator);

}  // namespace trainrt::trainer
