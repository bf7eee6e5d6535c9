#pragma once
#include <string>

namespace trainrt::cli {

/// The checkpoint directory that a word of the command line names: itself, or the newest one of a run directory (of any
/// directory with checkpoint_NNNNNN in it), damaged or not. Absolute. UsageError where it is neither.
std::string find_checkpoint(const std::string& path);

}  // namespace trainrt::cli
