#pragma once
#include <array>
#include <cstddef>
#include <functional>
#include <string_view>

namespace trainrt::checkpoint {

/// The phases of saving a checkpoint and of deleting old ones, in order. If processes are killed after any phase, no
/// committed checkpoint may be lost or damaged; tests stop or kill processes after each phase. The training thread
/// completes `prepared`, `staged` and `gathered`; background threads complete the other phases.
enum class Phase {
  prepared,          ///< rank 0 has created the directory that all ranks write into
  staged,            ///< this rank has copied its state, which may change now
  shard_written,     ///< this rank has written all its bytes
  shard_synced,      ///< this rank's bytes are durable (fsync)
  gathered,          ///< this rank has received the results of all ranks; their bytes are durable, or a write failed
  manifest_written,  ///< manifest.json is durable; this phase and all later ones occur on rank 0 only
  directory_synced,  ///< the names of the checkpoint's files are durable
  renamed,           ///< the checkpoint directory has its final name, checkpoint_NNNNNN
  committed,         ///< the final name is durable
  view_written,      ///< state.h5 of the committed checkpoint exists
  retired,           ///< old checkpoints to delete are moved from the run directory into the private directory
  deleted,           ///< the files of these old checkpoints are deleted
};
inline constexpr int phase_count = 12;
/// Returns the name of a phase as it is written in the enum: "prepared".
constexpr std::string_view name_of(Phase phase) {
  constexpr std::array<std::string_view, phase_count> names = {
      "prepared",         "staged",  "shard_written", "shard_synced", "gathered", "manifest_written",
      "directory_synced", "renamed", "committed",     "view_written", "retired",  "deleted"};
  return names[static_cast<std::size_t>(phase)];
}

/// Called after each phase of a save or a deletion. Must be thread-safe, because several threads may call it at once.
using Observer = std::function<void(Phase)>;

}  // namespace trainrt::checkpoint
