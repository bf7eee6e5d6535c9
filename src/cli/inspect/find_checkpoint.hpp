#pragma once
#include <string>

namespace trainrt::cli {

/// The checkpoint directory that a word of the command line names: itself, or the newest one of a run directory (of any
/// directory with checkpoint_NNNNNN in it), damaged or not. Absolute. UsageError if it is neither. Until the process ends
/// no symbolic link in the named directory is followed.
std::string find_checkpoint(const std::string& path);

/// The best one of a run directory, by the run's checkpoint.score_attribute and score_order. UsageError if it is no run
/// directory, the run has no such metric, or no checkpoint has it.
std::string find_best_checkpoint(const std::string& run_dir);

}  // namespace trainrt::cli
