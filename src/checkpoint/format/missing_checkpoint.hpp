#pragma once
#include <string>

namespace trainrt::checkpoint {

/// Returns a text for an error about the missing checkpoint `path`: "the run has checkpoint_000000 to checkpoint_000009
/// (newest)". If only the zeros of the number are missing, the text names the directory. Returns "" unless the last
/// component of `path` begins with "checkpoint_" and its parent is a run directory.
std::string existing_checkpoints(const std::string& path);

}  // namespace trainrt::checkpoint
