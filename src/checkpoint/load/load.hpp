#pragma once
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <trainrt/communicator.hpp>
#include <trainrt/state.hpp>

#include "checkpoint/format/manifest.hpp"
#include "checkpoint/load/contents.hpp"

namespace trainrt::checkpoint {

struct LoadResult {
  Meta meta;
  std::string directory;
  std::vector<std::string> skipped;   ///< why each newer checkpoint was passed over (damaged)
  std::vector<std::int64_t> damaged;  ///< numbers of those
  std::vector<std::string> notes;     ///< what else the user should know: a view that is missing
  std::set<std::string> untouched;    ///< tensors of the state that were left as they were
};

/// Loads the newest checkpoint of `run_dir` that is whole. Collective. nullopt if there is none at all. If there are
/// some but all are damaged: AllDamaged, or CannotRead if that may pass (refuse_damaged()). A checkpoint of a different
/// model (missing, extra or differing tensors) throws StateDiffers that names every tensor that differs; nothing is loaded
/// then.
///
/// Each rank reads what it holds, into the state's memory, and a block or two more; all ranks together check every byte of
/// the checkpoint. If the state has optional tensors everything is checked before anything is copied: what a damaged
/// checkpoint has of them an older one may lack.
std::optional<LoadResult> load_latest(const State& state, const std::string& run_dir, Communicator& communicator);

/// Whether a load writes to the state while it reads, or when it has checked all of a checkpoint, which reads that twice
/// and leaves the state as it was if all checkpoints are damaged.
enum class Fill : std::uint8_t { while_reading, when_checked };

/// The same, of these checkpoints of the run: a listing that the caller trusts. The same on all ranks, ascending.
std::optional<LoadResult> load_latest(const State& state, const std::string& run_dir,
                                      const std::vector<std::int64_t>& numbers, Communicator& communicator,
                                      Covers covers = Covers::all, Fill fill = Fill::while_reading);

/// What a new run takes from another one's checkpoint.
struct Selection {
  /// Patterns of names (core/text/name_patterns.hpp). Empty: everything, as load_latest().
  std::vector<std::string> patterns;
  Covers covers = Covers::all;  ///< without patterns
};
/// The patterns choose this name; without patterns every one is. Pure.
bool selects(const Selection& selection, const std::string& name);

struct PartialResult {
  LoadResult loaded;
  std::vector<std::string> taken;    ///< entries that were loaded
  std::vector<std::string> missing;  ///< entries of the state that were wanted and are not in the checkpoint
  std::vector<std::string> unused;   ///< entries of the checkpoint that were wanted and are not in the state
};
/// Throws UsageError, as load_from() does, if `path` is neither the directory of a checkpoint nor a run directory with
/// checkpoints. Reads no checkpoint; not collective.
void require_loadable(const std::string& path);

/// Loads from one checkpoint directory, or from the newest whole one of a run directory. Collective. Entries that are
/// wanted and there with another dtype or shape throw UsageError; damage throws Error.
PartialResult load_from(const State& state, const std::string& path, const Selection& selection,
                        Communicator& communicator);

}  // namespace trainrt::checkpoint
