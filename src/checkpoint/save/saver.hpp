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

/// Configuration of a Saver, which saves the checkpoints of one run.
struct SaverOptions {
  std::string run_dir;
  std::string private_dir;  ///< directory in run_dir that only this attempt of the run writes into
  /// true: create private_dir at the first save. false: private_dir must exist; saves throw LostRun if it does not.
  bool makes_private_dir = true;
  std::vector<int> file_of_rank;       ///< number of the shard file that each rank writes into; empty: one file per rank
  std::optional<Retention> retention;  ///< rules for deleting old checkpoints, applied in the background after every commit
  std::set<std::int64_t> known;        ///< numbers of earlier checkpoints that retain() may count and delete
  WriterOptions writer;
};

/// Saves checkpoints in the background, one at a time. Every rank has a Saver. All functions must be called by the
/// training thread, the only thread that communicates, and are collective unless their comment states otherwise.
///
/// The steps of a save:
/// - start() copies the state and returns; background threads write the copy.
/// - The caller combines the progress() of all ranks by an all-reduce and passes the result to advance(), repeatedly.
/// - Once the bytes of every rank are durable, advance() gathers their digests.
/// - Rank 0 then commits the checkpoint in the background.
/// - After the commit, advance() returns the result. All ranks get the same result in the same call.
///
/// finish() does all steps after start() and waits for them.
class Saver {
 public:
  Saver(SaverOptions options, Communicator& communicator);
  ~Saver();

  /// Must be called if the state was loaded from checkpoint `number`. Newer checkpoints, which were not loaded, are then
  /// not deleted, and do not count as one of num_to_keep. Not collective.
  void restored(std::int64_t number);

  /// Prepares the first save of `state`, so that start() takes less time: the ranks agree on the layout of the tensors in
  /// the shard files, each rank builds the HDF5 structure of its file in memory, and staging memory is allocated in the
  /// background.
  void prepare(const State& state);

  /// Compares one number of every rank, for example a digest of replicated tensors, before a save. The ranks do not compare
  /// numbers if `number` is empty.
  struct Comparison {
    /// Returns this rank's number. Called after State::bring_up_to_date().
    std::function<std::int64_t()> number;
    /// Called on all ranks with the result of the comparison. `alike`: all ranks have the same number. May throw on all
    /// ranks, which aborts the save.
    std::function<void(bool alike)> conclude;
  };
  /// The parameters of one save: the properties of the checkpoint, its files, and functions to call.
  struct Request {
    Meta meta;                            ///< properties of the checkpoint; Saver sets `ranks` and `created`
    std::function<void()> before_commit;  ///< called on rank 0, in a background thread, before the checkpoint is committed
    Comparison comparison;
    /// Files from directories that were passed to report(). Used only if meta.has_directory is true, which must be the same
    /// on all ranks.
    DirectoryFiles given;
  };
  /// Starts a save and returns as soon as the train function may change the state again. No save may be in flight. Returns
  /// a result only if the save has failed already. Throws on all ranks:
  /// - Error if the States of the ranks differ, which is a bug of the train function
  /// - LostRun if another attempt owns the run
  /// - DirectoryFileUnreadable if a file in a directory passed to report() cannot be read; the checkpoint is then removed
  std::optional<SaveResult> start(const State& state, Request request);

  /// Passes the numbers of the checkpoints that a load found damaged. Damaged checkpoints do not count as one of
  /// num_to_keep and may be deleted, even if they are newer than the loaded checkpoint. Must be called after restored().
  /// Not collective.
  void know_as_damaged(std::vector<std::int64_t> numbers);

  /// Returns true from the start() of a save until its result is returned. Not collective.
  bool in_flight() const { return pending_ != nullptr; }
  /// Progress of the saves of one rank, or of all ranks combined. Saves are numbered from 1 in the order of start().
  struct Progress {
    /// Number of the newest save for which this rank has written all its bytes durably, or has failed. All-reduce: minimum.
    std::int64_t sealed = 0;
    /// On rank 0: number of the newest save with a successful or failed commit; 0 on other ranks. All-reduce: maximum.
    std::int64_t finished = 0;
  };
  Progress progress() const;  ///< returns this rank's progress; not collective
  /// Continues the save in flight as far as possible without waiting for the storage. `of_all`: the progress() of all
  /// ranks, combined by an all-reduce. Returns the result of the save, or nullopt if the save is not done or no save is in
  /// flight. Throws LostRun on all ranks if another attempt owns the run.
  std::optional<SaveResult> advance(Progress of_all);

  /// Waits for the save in flight and returns its result; nullopt if no save is in flight. Throws LostRun on all ranks if
  /// another attempt owns the run.
  std::optional<SaveResult> finish();
  /// Waits until this rank has written its part of the save in flight, so that no background thread reads the State. Throws
  /// SaveStalled if no byte is written for writer.stuck_s seconds. Not collective.
  void finish_writes();
  /// Waits for the background work after commits: writing combined views (state.h5) and deleting old checkpoints. Tries
  /// once more to write the views that could not be written. Calls SaverOptions::writer.warn if the wait takes 30 s, and
  /// throws SaveStalled after another writer.stuck_s seconds. Not collective.
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
  std::shared_ptr<LastCommit> last_commit_;  // result of the last commit; set on rank 0 only, by a background thread
  std::int64_t started_ = 0;                 // number of saves started so far
  std::vector<std::int64_t> damaged_;
  bool may_retain_ = false;  // old checkpoints may be deleted: a checkpoint was loaded or committed by this Saver
  std::mutex commit_mutex_;  // protects options_.known, damaged_, may_retain_ and missing_views_
  MissingViews missing_views_;
  ShardWriter writer_;  // last member, so that it is destroyed first: its background tasks use the other members
};

/// Saves one checkpoint, and waits until the checkpoint is committed and its combined view (state.h5) is written.
/// Returns the same result on all ranks. If a rank cannot write its bytes, the files of this checkpoint are removed on
/// all ranks; committed checkpoints are not changed.
///
/// Throws Error if the States of the ranks differ, which is a bug of the train function. Throws LostRun if a checkpoint
/// with number `meta.number` exists, because another attempt owns the run now. Collective.
SaveResult save(const State& state, const SaverOptions& options, const Meta& meta, Communicator& communicator);

}  // namespace trainrt::checkpoint
