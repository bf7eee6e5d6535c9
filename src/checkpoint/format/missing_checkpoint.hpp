#pragma once
#include <string>

namespace trainrt::checkpoint {

/// Returns the text "the run has checkpoint_000000 to checkpoint_000009 (newest)" for an error about `path`, which does not
/// exist, if its last component begins with "checkpoint_" and its parent is a run directory. If only the zeros of the
/// number are missing, the text names the directory. Returns "" for other paths.
std::string existing_checkpoints(const std::string& path);

}  // namespace trainrt::checkpoint
