#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "config/run_spec.hpp"

namespace trainrt::trainer {

/// Copies the mirror's newest usable checkpoint (see fetch_newest()) into the run directory, and returns the number of
/// the checkpoint. Called on one rank, if all checkpoints of the run are damaged. A damaged checkpoint with the same
/// number is replaced. `private_dir` is the private directory of this attempt.
///
/// Returns nullopt if the config has no mirror. Logs a warning and returns nullopt if the mirror belongs to another run
/// or has no usable checkpoint. Throws StorageError if the mirror is unavailable; in this case, a later start may
/// succeed.
std::optional<std::int64_t> repair_from_mirror(const config::RunSpec& spec, const std::string& run_id,
                                               const std::string& private_dir);

}  // namespace trainrt::trainer
