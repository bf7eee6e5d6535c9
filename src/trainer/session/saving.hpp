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

/// How a train function passes its data to checkpoints. All ranks must use the same kind.
enum class StateKind : std::uint8_t {
  none,         ///< the train function has not called restore(), so nothing is saved
  state,        ///< restore(state) has attached a State
  empty_state,  ///< restore(state) has attached an empty State; becomes `directories` when a report has a directory
  directories,  ///< reports with directories are saved; the runtime saves nothing between these reports
};

/// The files and the State that the ranks pass to one report() for its checkpoint.
struct ReportedCheckpoint {
  checkpoint::DirectoryFiles files;
  std::optional<State> state;  ///< State passed to report(), and the runtime's values; nothing: the attached State is saved
};

/// Saves the checkpoints of an attempt. Owns the attached State, starts checkpoints in the background, and waits for the
/// checkpoint in flight at a stop and at the end.
///
/// Must be used on the train thread. Functions are collective unless their comment states otherwise, and throw
/// comm::AgreedError on all ranks.
class Saving {
 public:
  /// The objects that a Saving uses. All of them must outlive the Saving.
  struct Parts {
    const config::RunSpec& spec;
    const World& world;
    const AttemptInfo& attempt;
    Communicator& communicator;
    Progress& progress;
    Observation& observation;
    StopReasons& stops;
    RunDatasets& datasets;
  };
  explicit Saving(const Parts& parts);

  // --- the attached State; not collective ---
  /// Attaches the entries of `user`, and the runtime's values: progress, stop rules and positions in datasets. Throws
  /// UsageError if a State is already attached.
  void attach(const State& user, StateKind kind);
  const State& state() const { return state_; }
  bool is_attached() const { return kind_ != StateKind::none; }
  /// Returns whether a checkpoint can be saved at any step or report. Returns false before restore(), and if only a report
  /// with a directory creates a checkpoint.
  bool saves_state() const { return kind_ == StateKind::state || kind_ == StateKind::empty_state; }
  /// Returns whether copies of the State in memory can replace checkpoints: the train function has attached a State that is
  /// not empty.
  bool copies_state() const { return kind_ == StateKind::state; }
  /// Returns Covers::part for StateKind::directories, since those checkpoints may also contain tensors that were passed to
  /// report(). Returns Covers::all for other kinds.
  checkpoint::Covers covers() const;
  /// Logs a warning, once, if no State is attached.
  void warn_if_unattached();

  // --- after a load ---
  /// Records that the attempt begins from the state `restored`. Not collective.
  void begin_from(const Restored& restored);
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
  /// Gathers the files and the State for one checkpoint from the arguments that all ranks passed to report(). `mine` is
  /// this rank's argument; nullptr if this rank passed no DirectoryCheckpoint.
  ReportedCheckpoint gather(const DirectoryCheckpoint* mine);
  /// Waits for the checkpoint in flight, then starts a new checkpoint. `reported` is the result of gather(), or nullptr to
  /// save the attached State.
  void start(const ReportedCheckpoint* reported);
  /// Commits the checkpoint in flight if all ranks have written their data. `of_all` is the progress() of all ranks,
  /// combined by a vote. Without this argument, the function combines the progress() of all ranks itself.
  void advance(const checkpoint::Saver::Progress& of_all) { cycle_.advance(of_all); }
  void advance() { cycle_.advance(); }
  void wait();
  /// Saves the present state and waits for the commit. With StateKind::directories, only waits for the checkpoint in
  /// flight.
  void save_and_wait();
  /// Saves the present state because the run stops. Tries three times, since a storage fault may last only seconds.
  void save_at_stop(batch::StopCause cause);
  /// Called after the state has changed. Waits for the checkpoint in flight, then records that no checkpoint contains the
  /// present state.
  void outdate();
  /// Compares the replicated tensors of all ranks if config key checkpoint.replica_check_every asks for it at this step.
  void compare_replicas_if_due();
  /// In the first steps of the attempt, compares the values of the State between ranks. Logs a warning if they differ,
  /// because a stop at such a step could not save the State.
  void compare_first_values();
  /// Waits for the checkpoint in flight, and logs a warning if work is not saved. Called after the train function returned.
  void finish();
  /// Waits for the checkpoint in flight and for the work after its commit. Called after a failure of all ranks.
  void settle();
  /// Waits for the background work after the last commit. Throws Error if the work takes too long. Not collective.
  void drain() { cycle_.drain(); }
  /// Returns the attached State once no background thread of a save reads its memory, so that State::bring_up_to_date() may
  /// be called. Throws Error if the storage does not respond. Not collective.
  const State& state_at_rest();

  // --- status; not collective ---
  checkpoint::Saver::Progress progress() const { return cycle_.progress(); }
  bool is_due_by_clock() const { return cycle_.is_due_by_clock(parts_.progress.has_reported()); }
  bool is_in_flight() const { return cycle_.is_in_flight(); }
  /// Returns whether a restart from the newest checkpoint would repeat no work. Returns true for a program that does not
  /// use trainrt's API, since such a program saves its own data.
  bool loses_nothing() const;
  /// Returns the newest checkpoint that this attempt committed, or else the checkpoint that this attempt restored.
  std::optional<CheckpointPlace> newest() const;
  /// Returns the checkpoint from which the run continues, as words for messages. Returns "" unless the kind is
  /// StateKind::directories.
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
  bool has_warned_of_different_files_ = false;  ///< this start or an earlier one has warned
  bool has_values_ = false;                     ///< the attached State of the train function has values
  int value_comparisons_ = 0;                   ///< number of calls of compare_first_values() that have compared values
  ReplicaWatch replicas_;
  CheckpointCycle cycle_;  // last member, so that it is destroyed first: its background work uses the other members
};

}  // namespace trainrt::trainer
