#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "config/run_spec.hpp"
#include "core/files/shortage.hpp"

namespace trainrt::cli {

/// Size of one checkpoint on disk.
struct CheckpointSize {
  std::uint64_t bytes = 0;
  std::uint64_t inodes = 0;  ///< files and folders
};

/// Number of checkpoints that a run keeps, and that it has.
struct CheckpointCount {
  std::int64_t num_to_keep = 0;  ///< checkpoint.num_to_keep; 0 keeps all
  std::int64_t existing = 0;     ///< in the run directory
};

/// Returns the free space of a file system and the quotas on it: "1.0 GiB and 12 inodes free; user quota ...". `path`
/// must exist.
std::string free_space_text(const std::string& path);

/// Returns a line with the space that the checkpoints of `spec` will need. The line has a warning if the file system or
/// a quota has less space left. The size of a checkpoint is that of the newest one in the run directory, or else of the
/// checkpoint from which the run starts. Throws Error if the run directory cannot be read.
std::string checkpoint_space_text(const config::RunSpec& spec);

/// Returns the line of checkpoint_space_text() for checkpoints of size `size`. While a checkpoint is being written, the
/// run directory contains the `num_to_keep` best ones, the latest one, and the new one. Pure function.
std::string compare_space(const CheckpointSize& size, const CheckpointCount& count, const std::optional<StorageRoom>& free,
                          std::span<const Quota> quotas);

}  // namespace trainrt::cli
