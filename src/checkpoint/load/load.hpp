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

/// The result of loading a checkpoint, the same on all ranks.
struct LoadResult {
  Meta meta;
  std::string directory;              ///< directory of the checkpoint that was loaded
  std::vector<std::string> skipped;   ///< one line per newer checkpoint that was skipped as damaged, with the reason
  std::vector<std::int64_t> damaged;  ///< numbers of the checkpoints that were skipped as damaged
  std::vector<std::string> notes;     ///< messages for the user about other problems, such as a missing state.h5
  std::set<std::string> untouched;    ///< names of the State's tensors that were not loaded
};

/// Loads the newest intact checkpoint of a run into the State. Returns nullopt if the run has no checkpoints. Throws:
/// - StateDiffers, naming every difference, if the checkpoint belongs to another model; the State is then unchanged
/// - AllDamaged if all checkpoints are damaged
/// - CannotRead if the damage may be temporary (refuse_damaged())
///
/// Each rank reads its own entries directly into the State's memory. Together the ranks verify every byte of the
/// checkpoint. If the State has optional tensors, the complete checkpoint is verified before anything is copied.
/// Otherwise, data of a damaged checkpoint could remain in optional tensors that the next older checkpoint lacks.
/// Collective.
std::optional<LoadResult> load_latest(const State& state, const std::string& run_dir, Communicator& communicator);

/// When a load writes to the State: while it reads the checkpoint, or after it has verified the complete checkpoint.
/// `when_checked` reads the data twice, and leaves the State unchanged if all checkpoints are damaged.
enum class Fill : std::uint8_t { while_reading, when_checked };

/// Loads the newest intact checkpoint among those with the given `numbers`, which must be ascending and the same on all
/// ranks. Results and errors are as for the load_latest() that takes no numbers. Collective.
std::optional<LoadResult> load_latest(const State& state, const std::string& run_dir,
                                      const std::vector<std::int64_t>& numbers, Communicator& communicator,
                                      Covers covers = Covers::all, Fill fill = Fill::while_reading);

/// Selects the tensors and values that load_from() loads.
struct Selection {
  /// Patterns of tensor and value names (core/text/name_patterns.hpp). Empty: all entries are loaded, as in load_latest().
  std::vector<std::string> patterns;
  /// Whether the State must have all entries of the checkpoint; used only if `patterns` is empty.
  Covers covers = Covers::all;
};
/// Returns whether the patterns of `selection` match this name; true if there are no patterns. Pure function.
bool selects(const Selection& selection, const std::string& name);

/// The result of load_from(): the loaded checkpoint, and the names that were and were not loaded.
struct PartialResult {
  LoadResult loaded;
  std::vector<std::string> taken;    ///< names of the tensors and values that were loaded
  std::vector<std::string> missing;  ///< names of selected entries of the State that the checkpoint lacks
  std::vector<std::string> unused;   ///< names of selected entries of the checkpoint that the State lacks
};
/// Checks that `path` is a checkpoint directory or a run directory with checkpoints, without reading a checkpoint. Throws
/// UsageError if it is not. Not collective.
void require_loadable(const std::string& path);

/// Loads selected tensors and values from a checkpoint directory, or from the newest intact checkpoint of a run directory.
/// Throws UsageError if a selected entry has another dtype or shape in the checkpoint, if nothing is selected, or if all
/// checkpoints are confirmed to be damaged. Throws CannotRead if the damage is not confirmed. Collective.
PartialResult load_from(const State& state, const std::string& path, const Selection& selection,
                        Communicator& communicator);

}  // namespace trainrt::checkpoint
