#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "config/run_spec.hpp"
#include "core/files/shortage.hpp"

namespace trainrt::cli {

/// Size of one checkpoint on the disk.
struct CheckpointSize {
  std::uint64_t bytes = 0;
  std::uint64_t inodes = 0;  ///< files and folders
};

/// Number of checkpoints that a run keeps, and that its directory has.
struct CheckpointCount {
  std::int64_t num_to_keep = 0;  ///< 0 keeps all
  std::int64_t existing = 0;
};

/// Returns "1.0 GiB and 12 inodes free, user quota: ..." for a path that exists.
std::string room_text(const std::string& path);

/// Returns a line that compares the room that the checkpoints of `spec` will take with the room that its storage and quotas
/// leave, with a warning if they do not fit. The size is that of the newest checkpoint in the run directory, or of the one
/// that the run starts from. Throws Error if the run directory cannot be read.
std::string checkpoint_room(const config::RunSpec& spec);

/// The comparison itself, without the size of one checkpoint. While a checkpoint is written, the directory has those that
/// num_to_keep names, the latest, and the new one. Pure function.
std::string compare_room(const CheckpointSize& size, const CheckpointCount& count, const std::optional<StorageRoom>& room,
                         std::span<const Quota> quotas);

}  // namespace trainrt::cli
