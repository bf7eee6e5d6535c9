#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include <trainrt/communicator.hpp>
#include <trainrt/state.hpp>

#include "checkpoint/save/results.hpp"
#include "checkpoint/save/retention.hpp"
#include "checkpoint/save/saver.hpp"
#include "config/run_spec.hpp"
#include "launch/world.hpp"
#include "trainer/reports/reporter.hpp"
#include "trainer/saving/attempt_info.hpp"
#include "trainer/saving/auto_interval.hpp"
#include "trainer/stops/stop_reasons.hpp"
#include "trainer/watching/replica_watch.hpp"
#include "watch/liveness.hpp"

namespace trainrt::trainer {

/// Where a run stands; all -1: nowhere.
struct RunPoint {
  std::int64_t iteration = -1;
  std::int64_t step = -1;
  bool operator==(const RunPoint&) const = default;
};

/// What is known of a committed checkpoint.
struct CommittedCheckpoint {
  std::int64_t number = -1;
  std::string directory;
  bool has_files = false;  ///< of a directory that report() was given
  std::string metadata = "{}";
  RunPoint point;
};

/// Which checkpoints the config wants to be kept.
checkpoint::Retention retention_of(const config::RunSpec& spec);

/// The checkpoints of an attempt on one rank, one after the other: starts them, learns what became of them and what they
/// cost, and says when the clock wants the next. The time that they take goes to the meter, the stop margin and the signs
/// of life. Only the train thread uses it.
///
/// A checkpoint that cannot be written is warned of, and training goes on, up to checkpoint.max_failed in a row: then
/// whichever call finds that out throws AgreedError, on all ranks. So does one that finds that the ranks' replicas differ.
/// While the storage is away that takes failure.storage_timeout too, however many checkpoints fail in that time.
class CheckpointCycle {
 public:
  /// What it works with; all of it must live longer.
  struct Parts {
    const config::RunSpec& spec;
    const AttemptInfo& attempt;
    Reporter& reporter;  ///< its log is on disk before a checkpoint counts
    StopMargin& stop_margin;
    watch::Liveness& life;
    ReplicaWatch& replicas;  ///< before anything of a checkpoint is written
  };
  /// What goes into a checkpoint.
  struct Content {
    const State& state;
    RunPoint point;
    const std::map<std::string, double>& metrics;  ///< of the last report
    const std::string& metadata;                   ///< JSON
    /// Files of the directories that came with this report; else those of the newest checkpoint are carried on.
    const checkpoint::DirectoryFiles* given = nullptr;
    double iteration_s = 0;  ///< Meta::iteration_s
    bool at_stop = false;    ///< Meta::at_stop
  };

  /// Collective.
  CheckpointCycle(Parts parts, const World& world, Communicator& communicator);

  // --- collective ---
  /// Does what the first save of this state would have to, if checkpoints are taken at all.
  void prepare(const State& state);
  /// Starts a checkpoint, after the one on its way has been waited for.
  void start(const Content& content);
  /// To where the vote found all ranks.
  void advance(const checkpoint::Saver::Progress& of_all);
  /// Waits for the one on its way.
  void finish();
  /// How far all ranks' checkpoint is, without waiting for any. Nothing is sent if none is on its way.
  void advance();
  /// True when everything up to here is in a committed checkpoint.
  bool save_and_wait(const Content& content);

  // --- not collective ---
  checkpoint::Saver::Progress progress() const { return saver_.progress(); }
  /// checkpoint.every asks for one by the clock: rank 0's decides. `reported`: this attempt has made a report.
  bool is_due_by_clock(bool reported) const;
  /// The newest committed checkpoint is of this point.
  bool holds(const RunPoint& point) const { return saved_ == point; }
  /// The attempt began from this checkpoint of the run, of this point.
  void began_from(const CommittedCheckpoint& checkpoint, const RunPoint& point) {
    saved_ = point;
    newest_ = checkpoint;
    saver_.restored(checkpoint.number);
  }
  /// The attempt began from this checkpoint of another run.
  void began_from_other(const CommittedCheckpoint& checkpoint) { newest_ = checkpoint; }
  /// The last that was committed, or that the attempt began from; the same on all ranks.
  const std::optional<CommittedCheckpoint>& newest_committed() const { return newest_; }
  bool is_on_its_way() const { return saver_.in_flight(); }
  /// Its load found these checkpoints damaged.
  void know_as_damaged(const std::vector<std::int64_t>& numbers) { saver_.know_as_damaged(numbers); }
  /// What is committed lacks something that the next checkpoint has.
  void outdate() { saved_ = {}; }
  /// "its last checkpoint, of step 12"
  std::string newest() const;
  /// Waits for what follows the last commit in the background. Throws Error if that takes too long.
  void drain() { saver_.drain(); }

 private:
  void add_files(const checkpoint::DirectoryFiles* reported, checkpoint::Saver::Request& request) const;
  void conclude(const std::optional<checkpoint::SaveResult>& result);
  void note_commit();
  void note_failure(const checkpoint::SaveResult& result);
  std::optional<checkpoint::SaveResult> measured(std::optional<checkpoint::SaveResult> result);
  void warn_of_short_notice();

  Parts parts_;
  Communicator& communicator_;
  config::CheckpointInterval by_clock_;  // rank 0's clock decides, and the vote tells the others: theirs is never due by it
  AutoInterval auto_interval_;
  RunPoint saved_;
  std::optional<CommittedCheckpoint> newest_;
  RunPoint flying_;  // of the checkpoint that is on its way
  CommittedCheckpoint flying_checkpoint_;
  std::map<std::string, double> flying_metrics_;
  bool flying_is_reported_ = false;  // its files came with a report
  std::int64_t failed_in_a_row_ = 0;
  std::int64_t failing_since_ms_ = 0;  // by rank 0's clock
  std::int64_t next_number_ = 0;
  double last_start_s_;
  double stalled_before_s_ = 0;
  bool notice_warned_ = false;
  checkpoint::Saver saver_;  // last: its background work uses the rest
};

}  // namespace trainrt::trainer
