#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <trainrt/communicator.hpp>
#include <trainrt/state.hpp>

#include "checkpoint/save/results.hpp"
#include "checkpoint/save/retention.hpp"
#include "checkpoint/save/saver.hpp"
#include "config/run_spec.hpp"
#include "launch/world.hpp"
#include "trainer/reports/reporter.hpp"
#include "trainer/saving/attempt_info.hpp"
#include "trainer/saving/committed_checkpoint.hpp"
#include "trainer/saving/save_schedule.hpp"
#include "trainer/stops/stop_reasons.hpp"
#include "trainer/watching/replica_watch.hpp"
#include "trainer/watching/save_cost_watch.hpp"
#include "watch/liveness.hpp"

namespace trainrt::trainer {

/// Returns the rules for deleting old checkpoints, from the [checkpoint] section of `spec`.
checkpoint::Retention retention_of(const config::RunSpec& spec);

/// Saves the checkpoints of an attempt, one at a time. Starts each save, finds out whether the checkpoint was committed,
/// and notifies the reporter, the callbacks and the mirror of each commit. The Meter counts the time that the train thread
/// spends in these functions as checkpoint time.
///
/// If a checkpoint cannot be written, a warning is logged and training continues. After checkpoint.max_failed failed saves
/// in a row, a collective function throws comm::AgreedError. If the storage is unavailable, the function throws only after
/// failure.storage_timeout. If the storage is full, it throws StorageFull, which prevents restarts. A collective function
/// also throws AgreedError if replicated tensors differ between ranks.
///
/// Must be used on the train thread.
class CheckpointCycle {
 public:
  /// The objects that a CheckpointCycle uses. All of them must outlive the CheckpointCycle.
  struct Parts {
    const config::RunSpec& spec;
    const AttemptInfo& attempt;
    Reporter& reporter;  ///< synced to storage before each commit
    StopMargin& stop_margin;
    watch::Liveness& life;
    ReplicaWatch& replicas;  ///< compares the replicated tensors before each save
  };
  /// The content and the properties of one checkpoint.
  struct Content {
    const State& state;
    RunPoint point;
    const std::map<std::string, double>& metrics;  ///< numbers of the last report
    const std::string& metadata;                   ///< JSON object
    /// Files that the ranks passed to the present report(). nullptr: the files of the newest checkpoint are stored again.
    const checkpoint::DirectoryFiles* reported_files = nullptr;
    double iteration_s = 0;  ///< checkpoint::Meta::iteration_s
    bool at_stop = false;    ///< checkpoint::Meta::at_stop
  };

  /// Collective.
  CheckpointCycle(Parts parts, const World& world, Communicator& communicator);

  // --- collective ---
  /// Prepares the first save of `state`, unless checkpoint.every is off.
  void prepare(const State& state);
  /// Waits for the end of the save in flight, then starts a save of `content`.
  void start(const Content& content);
  /// Commits the checkpoint in flight if all ranks have written it; does not wait for the storage. `of_all` is the
  /// progress() of all ranks, combined by a vote.
  void advance(const checkpoint::Saver::Progress& of_all);
  /// Combines the progress() of all ranks, and calls advance() with it. Communicates only if a save is in flight.
  void advance();
  /// Waits until the save in flight is committed or has failed.
  void finish();
  /// Saves `content` and waits for the commit. Does not save if the newest checkpoint has the same point. Returns whether a
  /// committed checkpoint has `content`.
  bool save_and_wait(const Content& content);

  // --- not collective ---
  checkpoint::Saver::Progress progress() const { return saver_.progress(); }
  /// Returns whether config key checkpoint.every asks for a checkpoint at this time. Always false on ranks other than 0.
  bool is_due_by_clock(bool has_reported) const { return schedule_.is_due(has_reported, saver_.in_flight()); }
  /// Returns whether the newest committed checkpoint has the state of `point`.
  bool holds(const RunPoint& point) const { return saved_ == point; }
  const RunPoint& saved_point() const { return saved_; }  ///< point of the newest checkpoint of this run
  /// Records that the attempt began from `checkpoint`. `is_of_this_run` is false for a checkpoint of another run.
  void begin_from(const CommittedCheckpoint& checkpoint, bool is_of_this_run);
  /// Records that a load found the checkpoints `numbers` of the run damaged. Called after begin_from().
  void know_as_damaged(const std::vector<std::int64_t>& numbers) { saver_.know_as_damaged(numbers); }
  /// Records that the newest checkpoint does not contain the complete present state. holds() then returns false until the
  /// next commit.
  void outdate() { saved_ = {}; }
  /// Returns the newest committed checkpoint, or else the checkpoint of begin_from(). All ranks return the same checkpoint.
  const std::optional<CommittedCheckpoint>& newest_committed() const { return newest_; }
  /// Returns the error of the last failed save; "" if all saves succeeded.
  const std::string& last_error() const { return last_error_; }
  /// Returns whether the last save failed because the storage is full.
  bool is_storage_full() const { return failed_in_a_row_ > 0 && is_full_; }
  bool is_in_flight() const { return saver_.in_flight(); }
  /// Returns words for messages that describe the newest checkpoint of the run: "its last checkpoint, of step 12".
  std::string newest_in_words() const;
  /// Waits for the background work after the last commit. Throws Error if the work takes too long.
  void drain() { saver_.drain(); }
  void finish_writes() { saver_.finish_writes(); }  ///< Saver::finish_writes()

 private:
  struct InFlight {
    CommittedCheckpoint checkpoint;
    std::map<std::string, double> metrics;
  };
  checkpoint::Saver::Request request_of(const Content& content);
  void add_files(const checkpoint::DirectoryFiles* reported, checkpoint::Saver::Request& request) const;
  void conclude(const std::optional<checkpoint::SaveResult>& result);
  void learn_and_conclude(const std::optional<checkpoint::SaveResult>& result);
  void note_commit();
  void note_failure(const checkpoint::SaveResult& result);
  std::string again() const;
  void warn_of_short_notice();

  Parts parts_;
  Communicator& communicator_;
  SaveSchedule schedule_;
  SaveCostWatch save_cost_;
  RunPoint saved_;  // point of the newest checkpoint of this run
  std::optional<CommittedCheckpoint> newest_;
  InFlight in_flight_;
  std::int64_t failed_in_a_row_ = 0;
  std::int64_t failing_since_ms_ = 0;  // time of the first of these failures, by rank 0's clock
  bool is_full_ = false;               // the storage was full when the last save failed
  std::string last_failure_;           // error of the last failed save, without numbers
  std::int64_t next_number_;
  std::string last_error_;
  bool has_warned_of_notice_ = false;
  checkpoint::Saver saver_;  // last member, so that it is destroyed first: its background work uses the other members
};

}  // namespace trainrt::trainer
