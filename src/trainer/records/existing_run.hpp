#pragma once
#include <string>

#include <trainrt/communicator.hpp>

#include "config/run_spec.hpp"

namespace trainrt::trainer {

/// What this start finds of its run.
struct ExistingRun {
  bool is_new = true;
  bool is_finished = false;      ///< there is nothing to do, if stays_finished()
  bool accepts_missing = false;  ///< checkpoints are missing, and the config accepts that
};

/// As rank 0 sees it. Refuses directories that are no run, runs of another train function, what contradicts itself, and
/// restarts on `ranks` ranks that would change the global batch (0: their number is not known). Changes nothing.
/// Collective.
ExistingRun find_existing_run(const config::RunSpec& spec, const std::string& function, Communicator& communicator,
                              int ranks);

/// Returns whether a run that has finished holds its end, and does then what its end left undone. If it does not, the run
/// is continued, and a restart that would change the global batch is refused. Collective; it may take as long as a load.
bool stays_finished(const config::RunSpec& spec, Communicator& communicator);

/// Returns whether the checkpoint that holds the end of a finished run is there and whole: all ranks together read it. If
/// it is not, a warning says so. True of a run that took no checkpoint. Collective.
bool holds_its_end(const std::string& run_dir, Communicator& communicator);

}  // namespace trainrt::trainer
