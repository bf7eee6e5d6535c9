#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <trainrt/communicator.hpp>
#include <trainrt/directory_checkpoint.hpp>
#include <trainrt/state.hpp>

#include "batch/stop_cause.hpp"
#include "checkpoint/load/load.hpp"
#include "checkpoint/save/directories.hpp"
#include "config/run_spec.hpp"
#include "launch/world.hpp"
#include "trainer/datasets/run_datasets.hpp"
#include "trainer/saving/attempt_info.hpp"
#include "trainer/saving/checkpoint_cycle.hpp"
#include "trainer/session/observation.hpp"
#include "trainer/session/progress.hpp"
#include "trainer/session/restoring.hpp"
#include "trainer/stops/stop_reasons.hpp"
#include "trainer/watching/replica_watch.hpp"

namespace trainrt::trainer {

/// How a train function passes its data to checkpoints. The same on all ranks.
enum class StateKind : std::uint8_t {
  none,         ///< not at all: it has not called restore()
  state,        ///< restore(state) has attached a State
  empty_state,  ///< restore(state) has attached an empty State; becomes `directories` when a report has a directory
  directories,  ///< reports with directories; the runtime saves nothing between them
};

/// The files and the State that the ranks pass to one report() for its checkpoint.
struct ReportedCheckpoint {
  checkpoint::DirectoryFiles files;
  std::optional<State> state;  ///< the passed State and the runtime's values; nothing: the attached State is saved
};

/// Saves the checkpoints of an attempt: attaches the State to save, starts checkpoints in the background, and waits for
/// them at a stop and at the end. Owns the attached State.
///
/// Threads: used on the train thread. Functions are collective unless their comment states otherwise, and throw
/// comm::AgreedError on all ranks.
class Saving {
 public:
  /// The objects that Saving uses. All references must outlive it.
  struct Parts {
    const config::RunSpec& spec;
    const World& world;
    const AttemptInfo& attempt;
    Communicator& communicator;
    Communicator& save_communicator;  ///< for saves; its calls do not count as waits of a step in the SpeedWatch
    Progress& progress;
    Observation& observation;
    StopReasons& stops;
    RunDatasets& datasets;
  };
  explicit Saving(const Parts& parts);

  // --- the attached State; not collective ---
  /// Attaches the entries of `user`, and the runtime's values: progress, stop rules and positions in datasets. Throws
  /// UsageError if a State is attached.
  void attach(const State& user, StateKind kind);
  const State& state() const { return state_; }
  bool is_attached() const { return kind_ != StateKind::none; }
  /// Returns whether checkpoints can be saved at every step and report; false if only reports with directories save.
  bool saves_state() const { return kind_ == StateKind::state || kind_ == StateKind::empty_state; }
  /// Returns Covers::part for `directories`, since checkpoints of such a run also hold tensors that were passed to reports;
  /// otherwise Covers::all.
  checkpoint::Covers covers() const;
  /// Warns, once, if no State is attached.
  void warn_if_unattached();

  // --- after a load ---
  void begin_from(const Restored& restored);  ///< not collective
  /// Prepares the first save, and the comparison of replicated tensors between ranks.
  void prepare();

  // --- metadata; not collective ---
  /// Adds `json` to the metadata of all checkpoints of the run.
  void add_run_metadata(const std::string& json);
  const std::string& run_metadata() const { return run_metadata_; }
  /// Sets the train function's metadata of later checkpoints, which overrides keys of run_metadata(). Throws UsageError if
  /// `json` is not a JSON object.
  void set_metadata(std::string_view json);

  // --- saves ---
  /// Gathers the files and the State for one checkpoint from the parameters of all ranks' calls of report(). `mine` is this
  /// rank's parameter; nullptr if it has none.
  ReportedCheckpoint gather(const DirectoryCheckpoint* mine);
  /// Starts a checkpoint; waits for an earlier one first. `reported`: from gather(), or nullptr.
  void start(const ReportedCheckpoint* reported);
  /// Commits the checkpoint in flight if all ranks have written it, as far as `of_all` shows.
  void advance(const checkpoint::Saver::Progress& of_all) { cycle_.advance(of_all); }
  void advance() { cycle_.advance(); }
  void wait();
  /// Saves the present state and waits for the commit; with `directories`, waits for the checkpoint in flight only.
  void save_and_wait();
  /// Saves at a stop, and tries again if that fails.
  void save_at_stop(batch::StopCause cause);
  /// Declares that no checkpoint, committed or in flight, has the present state any more.
  void outdate();
  /// Compares the replicated tensors of all ranks if that is due at this step.
  void compare_replicas_if_due();
  /// Waits for the checkpoint in flight when the train function has returned, and warns of work that is not saved.
  void finish();
  /// Waits for the checkpoint in flight after a failure on all ranks, and for the work that follows its commit.
  void settle();
  /// Waits for the work that follows the last commit. Throws Error if that takes too long. Not collective.
  void drain() { cycle_.drain(); }

  // --- status; not collective ---
  checkpoint::Saver::Progress progress() const { return cycle_.progress(); }
  bool is_due_by_clock() const { return cycle_.is_due_by_clock(parts_.progress.has_reported()); }
  bool is_in_flight() const { return cycle_.is_in_flight(); }
  /// Returns whether a restart from the newest checkpoint would repeat no work. True for a silent program, which saves its
  /// data itself.
  bool loses_nothing() const;
  /// Returns the newest committed checkpoint, or else the one that was restored.
  std::optional<CheckpointPlace> newest() const;
  /// Returns the checkpoint with which a train function with `directories` continues, for messages; "" for other kinds.
  std::string continues_from() const;

 private:
  CheckpointCycle::Content content(const ReportedCheckpoint* reported = nullptr) const;
  bool is_saved() const { return cycle_.holds(parts_.progress.point()); }
  std::optional<State> with_runtime_values(const DirectoryCheckpoint& given) const;

  Parts parts_;
  StateKind kind_ = StateKind::none;
  State state_;
  std::string run_metadata_;
  std::string metadata_;
  bool has_warned_ = false;
  ReplicaWatch replicas_;
  CheckpointCycle cycle_;  // last member, so that it is destroyed first: its background work uses the other members
};

}  // namespace trainrt::trainer
