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

/// The result of a load, the same on all ranks.
struct LoadResult {
  Meta meta;
  std::string directory;              ///< the checkpoint that was loaded
  std::vector<std::string> skipped;   ///< reasons why newer checkpoints were skipped as damaged
  std::vector<std::int64_t> damaged;  ///< numbers of the skipped checkpoints
  std::vector<std::string> notes;     ///< other messages for the user, such as a missing state.h5
  std::set<std::string> untouched;    ///< tensors of the state that were not loaded
};

/// Loads the newest intact checkpoint of a run. Returns nullopt if the run has no checkpoints. Throws AllDamaged if all are
/// damaged, CannotRead if that may be temporary (refuse_damaged()), and StateDiffers, naming every difference, if the
/// checkpoint belongs to another model; nothing is loaded then. Collective.
///
/// Each rank reads its own entries, directly into the state's memory; the ranks together verify every byte of the
/// checkpoint. If the state has optional tensors, everything is verified before anything is copied, because an older
/// checkpoint may lack tensors that a damaged one has.
std::optional<LoadResult> load_latest(const State& state, const std::string& run_dir, Communicator& communicator);

/// When a load writes to the state: while it reads, or after the complete checkpoint was verified. The latter reads data
/// twice and does not change the state if all checkpoints are damaged.
enum class Fill : std::uint8_t { while_reading, when_checked };

/// Loads the newest intact one of the given checkpoints of a run. `numbers` is in ascending order and the same on all
/// ranks. Otherwise as load_latest() of a run directory. Collective.
std::optional<LoadResult> load_latest(const State& state, const std::string& run_dir,
                                      const std::vector<std::int64_t>& numbers, Communicator& communicator,
                                      Covers covers = Covers::all, Fill fill = Fill::while_reading);

/// The entries that load_from() loads.
struct Selection {
  /// Patterns of names (core/text/name_patterns.hpp). Empty: all entries, as in load_latest().
  std::vector<std::string> patterns;
  Covers covers = Covers::all;  ///< used if `patterns` is empty
};
/// Returns whether the patterns select this name; true if there are no patterns. Pure function.
bool selects(const Selection& selection, const std::string& name);

/// The result of load_from().
struct PartialResult {
  LoadResult loaded;
  std::vector<std::string> taken;    ///< entries that were loaded
  std::vector<std::string> missing;  ///< selected entries of the state that the checkpoint lacks
  std::vector<std::string> unused;   ///< selected entries of the checkpoint that the state lacks
};
/// Throws UsageError if `path` is neither a checkpoint directory nor a run directory with checkpoints. Does not read a
/// checkpoint. Not collective.
void require_loadable(const std::string& path);

/// Loads selected entries from a checkpoint directory, or from the newest intact checkpoint of a run directory. Throws
/// UsageError if a selected entry has another dtype or shape in the checkpoint, if nothing is selected, or if the damage of
/// all checkpoints is confirmed; CannotRead if it is not. Collective.
PartialResult load_from(const State& state, const std::string& path, const Selection& selection,
                        Communicator& communicator);

}  // namespace trainrt::checkpoint
