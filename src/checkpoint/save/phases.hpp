#pragma once
#include <array>
#include <cstddef>
#include <functional>
#include <string_view>

namespace trainrt::checkpoint {

/// The points of a save and of a deletion between which something happens that a crash must not harm, in order. Tests stop
/// or kill there. All but `staged` and `gathered` are reached in background threads.
enum class Phase {
  prepared,          ///< the private directory is there (rank 0)
  staged,            ///< this rank's bytes are copied: the state may change
  shard_written,     ///< every byte of this rank's part has been written
  shard_synced,      ///< and is durable
  gathered,          ///< this rank knows that all parts are
  manifest_written,  ///< manifest.json is durable (rank 0, as all that follow)
  directory_synced,  ///< the names in the private directory are durable
  renamed,           ///< the checkpoint has its final name
  committed,         ///< that name is durable
  view_written,      ///< state.h5 is there
  retired,           ///< a checkpoint to delete has left the run
  deleted,           ///< it is gone
};
inline constexpr int phase_count = 12;
/// As in the enumeration.
constexpr std::string_view name_of(Phase phase) {
  constexpr std::array<std::string_view, phase_count> names = {
      "prepared",         "staged",  "shard_written", "shard_synced", "gathered", "manifest_written",
      "directory_synced", "renamed", "committed",     "view_written", "retired",  "deleted"};
  return names[static_cast<std::size_t>(phase)];
}

/// May be called from several threads at once.
using Observer = std::function<void(Phase)>;

}  // namespace trainrt::checkpoint
