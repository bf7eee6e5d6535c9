#pragma once
#include <functional>
#include <string_view>

#include "checkpoint/checkpoint.hpp"

namespace trainrt::checkpoint {

/// The points of a save and of a deletion between which something durable happens, in order. Tests stop or kill there.
enum class Phase {
  prepared,          ///< the private directory is there
  shard_written,     ///< this rank's shard is durable
  shards_gathered,   ///< this rank knows that all shards are
  view_written,      ///< state.h5 is durable (rank 0, as all that follow)
  manifest_written,  ///< manifest.json is durable
  directory_synced,  ///< the names in the private directory are durable
  renamed,           ///< the checkpoint has its final name
  committed,         ///< that name is durable
  retired,           ///< a checkpoint to delete has left the run
  deleted,           ///< it is gone
};
inline constexpr int phase_count = 10;
std::string_view name_of(Phase phase);  ///< as in the enumeration

using Observer = std::function<void(Phase)>;

/// save() and retain() of checkpoint.hpp, which watch with an observer that does nothing.
SaveResult save(const State& state, const SaveOptions& options, Communicator& communicator, const Observer& observer);
void retain(const std::string& run_dir, const std::string& private_dir, const Retention& retention,
            const Observer& observer);

}  // namespace trainrt::checkpoint
