#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <trainrt/communicator.hpp>
#include <trainrt/state.hpp>

#include "checkpoint/save/combined_view.hpp"
#include "checkpoint/save/results.hpp"
#include "checkpoint/save/retention.hpp"
#include "checkpoint/save/shard_writer.hpp"
#include "core/rank_zero.hpp"

namespace trainrt::checkpoint {

/// The configuration of a Saver.
struct SaverOptions {
  std::string run_dir;
  std::string private_dir;             ///< directory in run_dir that only this attempt writes into
  bool makes_private_dir = true;       ///< create private_dir at the first save; false: it must exist, or LostRun
  std::vector<int> file_of_rank;       ///< shard file of each rank; empty: one file per rank
  std::optional<Retention> retention;  ///< applied after every commit, in the background
  std::set<std::int64_t> known;        ///< earlier checkpoints that retention may count and delete (retain())
  WriterOptions writer;
};

/// Saves checkpoints in the background, one at a time. Every rank has one. Functions are collective unless their comment
/// states otherwise, and must be called by the train thread, the only thread that communicates.
///
/// start() copies the state and returns. The ranks then combine their progress() by a vote of the caller and pass the
/// result to advance(). Once every rank has sealed its part, advance() gathers the digests and rank 0 commits in the
/// background; after that, advance() returns the result, the same on all ranks in the same call. finish() waits for all of
/// this.
class Saver {
 public:
  Saver(SaverOptions options, Communicator& communicator);
  ~Saver();

  /// Declares that the state was loaded from checkpoint `number`. Newer checkpoints, which were not loaded, are not deleted
  /// by retention. Not collective.
  void restored(std::int64_t number);

  /// Does the work that the first save of this state needs: the ranks agree on the layout, the structure of the files is
  /// built, and staging memory is allocated in the background.
  void prepare(const State& state);

  /// An optional comparison of the ranks before a save; not made if `number` is empty.
  struct Comparison {
    std::function<std::int64_t()> number;      ///< returns this rank's number; called when the state is up to date
    std::function<void(bool alike)> conclude;  ///< gets whether the numbers were equal; may throw on all ranks, to abort
  };
  struct Request {
    Meta meta;                            ///< Saver sets `ranks` and `created`
    std::function<void()> before_commit;  ///< called on rank 0 in the background, before the commit
    Comparison comparison;
    DirectoryFiles given;  ///< files from directories; only if meta.has_directory, which is the same on all ranks
  };
  /// Starts a checkpoint and returns when the state may change. No save may be in flight. Returns a result only if the save
  /// failed at once. Throws Error if values differ between ranks, which is a bug of the train function, and
  /// DirectoryFileUnreadable if a file of a directory cannot be read; the checkpoint is then removed.
  std::optional<SaveResult> start(const State& state, Request request);

  /// Declares that a load found these checkpoints damaged. Retention does not count them and may delete them, even if they
  /// are newer than the loaded one. Must be called after restored(). Not collective.
  void know_as_damaged(std::vector<std::int64_t> numbers);

  /// Returns whether a save was started and its result was not returned yet. Not collective.
  bool in_flight() const { return pending_ != nullptr; }
  /// Counts of saves. Saves are numbered from 1 in the order of start().
  struct Progress {
    std::int64_t sealed = 0;    ///< newest save with a durable (or failed) part on this rank; a vote takes the minimum
    std::int64_t finished = 0;  ///< newest save with a successful or failed commit, on rank 0; a vote takes the maximum
  };
  Progress progress() const;  ///< Returns this rank's progress. Not collective.
  /// Continues the save in flight as far as `of_all`, the combined progress of all ranks, permits. Returns its result, or
  /// nullopt if it is not done or no save is in flight.
  std::optional<SaveResult> advance(Progress of_all);

  /// Waits for the save in flight and returns its result; nullopt if no save is in flight.
  std::optional<SaveResult> finish();
  /// Waits for the background work after commits: combined views and deletions. Views that could not be written are tried
  /// again once. Calls `writer.warn` if that takes 30 s; throws SaveStalled after another writer.stuck_s seconds. Not
  /// collective.
  void drain();

 private:
  struct PendingSave;
  struct LastCommit;
  void plan(const State& state);
  void make_private_dir();
  void require_readable();
  void gather();
  void commit_gathered(const std::vector<std::string>& sealed);
  SaveResult conclude();
  void commit_in_background(std::shared_ptr<const struct Commit> work, std::int64_t began_ms);
  void follow_up(const struct Commit& work);
  void write_missing_views();
  void repeat_follow_up_in_background();
  void retain_best();

  SaverOptions options_;
  Communicator& communicator_;
  RankZero rank_zero_;
  std::unique_ptr<class Agreement> agreement_;
  std::shared_ptr<const ShardPlan> plan_;
  std::vector<std::string> value_names_;
  std::unique_ptr<PendingSave> pending_;
  std::shared_ptr<LastCommit> last_commit_;  // rank 0: result of its background thread
  std::int64_t started_ = 0;                 // number of saves
  std::vector<std::int64_t> damaged_;
  bool may_retain_ = false;  // every checkpoint in options_.known is older than a loaded or committed one, or is that
  std::mutex commit_mutex_;  // protects options_.known, damaged_, may_retain_ and missing_views_
  MissingViews missing_views_;
  ShardWriter writer_;  // destroyed first, as its tasks use the other members
};

/// Saves one checkpoint and waits until it is committed and its combined view is written. Returns the same result on all
/// ranks. If a rank cannot write, the checkpoint is dropped on all ranks and its files are removed; committed checkpoints
/// are not changed. Throws Error if values differ between ranks, which is a bug of the train function, and LostRun if a
/// directory of that number exists, because another attempt owns the run now. Collective.
SaveResult save(const State& state, const SaverOptions& options, const Meta& meta, Communicator& communicator);

}  // namespace trainrt::checkpoint
