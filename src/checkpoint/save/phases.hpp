#pragma once
#include <array>
#include <cstddef>
#include <functional>
#include <string_view>

namespace trainrt::checkpoint {

/// The steps of a save and of a deletion, in order, each of which must be safe against a crash. Tests stop or kill
/// processes after each step. The train thread reaches `prepared`, `staged` and `gathered`; background threads reach the
/// others.
enum class Phase {
  prepared,          ///< the private directory exists (rank 0)
  staged,            ///< this rank's bytes are copied, so the state may change
  shard_written,     ///< all bytes of this rank's part are written
  shard_synced,      ///< this rank's part is durable
  gathered,          ///< this rank knows that the parts of all ranks are sealed
  manifest_written,  ///< manifest.json is durable (rank 0, also all later steps)
  directory_synced,  ///< the file names in the private directory are durable
  renamed,           ///< the checkpoint has its final name
  committed,         ///< the final name is durable
  view_written,      ///< state.h5 exists
  retired,           ///< checkpoints to delete are renamed out of the run
  deleted,           ///< their files are deleted
};
inline constexpr int phase_count = 12;
/// Returns the identifier of the phase.
constexpr std::string_view name_of(Phase phase) {
  constexpr std::array<std::string_view, phase_count> names = {
      "prepared",         "staged",  "shard_written", "shard_synced", "gathered", "manifest_written",
      "directory_synced", "renamed", "committed",     "view_written", "retired",  "deleted"};
  return names[static_cast<std::size_t>(phase)];
}

/// Called after each phase, possibly from several threads at once.
using Observer = std::function<void(Phase)>;

}  // namespace trainrt::checkpoint
