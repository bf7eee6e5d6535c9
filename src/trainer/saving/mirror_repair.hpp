#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "config/run_spec.hpp"

namespace trainrt::trainer {

/// Copies the mirror's newest usable checkpoint (fetch_newest()) into the run directory. Called if all checkpoints of the
/// run are damaged. Replaces the damaged checkpoint with the same number, if any. `private_dir` is the private directory of
/// this attempt. Called by one rank.
///
/// Returns the number of the checkpoint. Returns nothing if no mirror is set, and, with a warning, if the mirror has
/// another run or no usable checkpoint. Throws StorageError if the mirror is unavailable: the next start may succeed.
std::optional<std::int64_t> repair_from_mirror(const config::RunSpec& spec, const std::string& run_id,
                                               const std::string& private_dir);

}  // namespace trainrt::trainer
