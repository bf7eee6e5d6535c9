#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <trainrt/communicator.hpp>
#include <trainrt/state.hpp>

#include "checkpoint/load/load.hpp"
#include "checkpoint/memory/state_copies.hpp"
#include "config/run_spec.hpp"
#include "trainer/datasets/run_datasets.hpp"
#include "trainer/saving/committed_checkpoint.hpp"
#include "trainer/session/progress.hpp"

namespace trainrt::trainer {

/// The result of Restoring::restore(): the loaded checkpoint and the progress in it. All ranks have an equal result.
struct Restored {
  std::optional<CommittedCheckpoint> checkpoint;  ///< checkpoint that was loaded; nothing if the run begins at step 0
  bool is_of_this_run = false;
  bool is_from_copy = false;              ///< the state is that of a copy in memory, which is newer than `checkpoint`
  std::vector<std::int64_t> damaged;      ///< numbers of this run's checkpoints that were found damaged
  std::map<std::string, double> metrics;  ///< numbers of the last report before a checkpoint of this run
  std::string bits;        ///< checkpoint::Meta::bits of `checkpoint`; "" if another run or number of ranks saved it
  double iteration_s = 0;  ///< duration so far of the iteration that the checkpoint interrupted
  /// Run directory of another run, with the reports that precede those of this run; "" if this run begins at iteration 1.
  std::string reports_of;
};

/// Restores the State, the progress and the positions in datasets at the start of an attempt. Loads the newest intact
/// checkpoint of the run. If all checkpoints of the run are damaged, first copies the newest intact checkpoint of the
/// mirror to the run. If the run has no checkpoint, loads the one that config key run.resume_from_checkpoint names.
///
/// A failure is thrown as comm::AgreedError on all ranks. Only the train thread may use this class.
class Restoring {
 public:
  /// The objects that a Restoring uses. All referenced objects must outlive the Restoring.
  struct Parts {
    const config::RunSpec& spec;
    Communicator& communicator;
    Progress& progress;
    RunDatasets& datasets;
    std::string run_id;
    std::string private_dir;                ///< private directory of this attempt
    std::vector<std::int64_t> checkpoints;  ///< numbers of the run's checkpoints, damaged ones included, ascending
  };
  explicit Restoring(Parts parts);

  /// A copy of the State in memory that may be loaded instead of a checkpoint.
  struct Copy {
    checkpoint::CopyNote note;
    std::function<void()> load;  ///< loads the copy into the State; not collective
  };

  /// Loads a checkpoint into `state`, to which Parts::progress and Parts::datasets must be attached. `covers` determines
  /// whether `state` must have all entries of the checkpoint. Replicated tensors that are not loaded get rank 0's values on
  /// all ranks. Logs the loaded checkpoint, and why newer checkpoints were skipped. Loads `copy` instead if it is newer
  /// than the newest checkpoint. Collective.
  Restored restore(const State& state, checkpoint::Covers covers, const std::optional<Copy>& copy = std::nullopt);

  /// Loads `state` from the checkpoint or run directory `path`. Nothing else is restored. Collective.
  void load(const State& state, const std::string& path);

  /// Returns the fitted preprocessors in the metadata of a checkpoint, as JSON; "" if the metadata has no preprocessors.
  /// Reads the checkpoint directory `checkpoint`, or the run's newest checkpoint if `checkpoint` is empty. Collective.
  std::string stored_preprocessors(const std::string& checkpoint);

 private:
  struct Source {
    const State& state;
    checkpoint::Covers covers;
  };
  bool restore_copy(const Copy& copy, Restored& restored);
  bool restore_own(const Source& source, Restored& restored);
  bool restore_other(const Source& source, Restored& restored);
  std::optional<checkpoint::LoadResult> load_own(const Source& source, Restored& restored);
  std::optional<checkpoint::LoadResult> load_newest(const Source& source);
  bool take_newest_from_mirror();
  void complete_last_commit(const checkpoint::LoadResult& loaded) const;
  void make_replicas_alike(const State& state, const checkpoint::LoadResult* loaded);
  CommittedCheckpoint checkpoint_of(const checkpoint::LoadResult& loaded) const;

  Parts parts_;
};

}  // namespace trainrt::trainer
