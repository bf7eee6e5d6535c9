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

#include "checkpoint/save/results.hpp"
#include "checkpoint/save/retention.hpp"
#include "checkpoint/save/shard_writer.hpp"
#include "checkpoint/save/whole_view.hpp"
#include "core/rank_zero.hpp"

namespace trainrt::checkpoint {

struct SaverOptions {
  std::string run_dir;
  std::string private_dir;             ///< of this attempt, inside run_dir
  bool makes_private_dir = true;       ///< at the first save. If it is gone later, or is not there: LostRun
  std::vector<int> file_of_rank;       ///< which shard file each rank writes into; empty: each its own
  std::optional<Retention> retention;  ///< applied after every commit, in the background
  std::set<std::int64_t> known;        ///< earlier checkpoints that it may count and delete besides own ones (retain())
  WriterOptions writer;
};

/// Saves checkpoints in the background, one at a time. Every rank has one; calls are collective unless they say otherwise,
/// and only the train thread communicates.
///
/// start() copies the state and returns. Each rank then tells the others by votes of its own how far it is (standing()),
/// and hands what the vote found to advance(): when every rank has sealed its part the digests are gathered and rank 0's
/// writer commits; when that has concluded, advance() returns the result, the same on all ranks, at the same call. finish()
/// does all this at once, and waits.
class Saver {
 public:
  Saver(SaverOptions options, Communicator& communicator);
  ~Saver();

  /// The state was loaded from this checkpoint: newer ones, which were not loaded, are not retention's to delete.
  void restored(std::int64_t number);

  /// Does what the first save of this state would have to: ranks agree on the layout, the structure of the files is made,
  /// and staging memory is taken in the background.
  void prepare(const State& state);

  /// What the ranks compare of the state that is about to be saved, if `number` is set.
  struct Comparison {
    std::function<std::int64_t()> number;      ///< of this rank, once the state is up to date
    std::function<void(bool alike)> conclude;  ///< all ranks had the same. If it throws, on all ranks, nothing is saved
  };
  struct Request {
    Meta meta;                            ///< ranks and created are filled in
    std::function<void()> before_commit;  ///< rank 0's writer calls it: what must be durable first
    Comparison comparison;
    Given given;  ///< files besides those of the State; meta.has_directory says on all ranks whether there may be any
  };
  /// Takes a checkpoint. Nothing may be in flight. Returns a result if it failed at once. Values that differ between
  /// ranks throw Error (it is a bug of the train function), and given files that cannot be read
  /// GivenUnreadable: then nothing of the checkpoint remains.
  std::optional<SaveResult> start(const State& state, Request request);

  /// Checkpoints of the run that a load found damaged: they take no place among those that retention keeps, and are
  /// retention's to delete, though newer than the one that was loaded. Not collective; after restored().
  void know_as_damaged(std::vector<std::int64_t> numbers);

  bool in_flight() const { return flight_ != nullptr; }
  /// Saves are numbered from 1 as they start.
  struct Standing {
    std::int64_t sealed = 0;     ///< the newest save that this rank has sealed; votes take the least of all ranks
    std::int64_t concluded = 0;  ///< the newest whose commit has concluded, on rank 0; votes take the greatest
  };
  Standing standing() const;  ///< not collective
  std::optional<SaveResult> advance(Standing of_all);

  /// Waits for what is in flight. nullopt if nothing is.
  std::optional<SaveResult> finish();
  /// Waits for what follows a commit in the background: the whole view, deletions; views that could not be written are
  /// tried once more. Not collective. Says that it waits if that takes long; throws SaveStalled after writer.stuck_s.
  void drain();

 private:
  struct Flight;
  struct Conclusion;
  void plan(const State& state);
  void make_private_dir();
  void require_readable();
  void gather();
  void commit_gathered(const std::vector<std::string>& sealed);
  SaveResult conclude();
  void commit_in_background(std::shared_ptr<const struct Commit> work, std::int64_t began_ms);
  void follow_up(const struct Commit& work);
  void settle_views();
  void settle_views_in_background();
  void retain_best();
  void retain_in_background();

  SaverOptions options_;
  Communicator& communicator_;
  RankZero rank_zero_;
  std::unique_ptr<class Agreement> agreement_;
  std::shared_ptr<const ShardPlan> plan_;
  std::vector<std::string> value_names_;
  std::unique_ptr<Flight> flight_;
  std::shared_ptr<Conclusion> conclusion_;  // rank 0: what its writer says
  std::int64_t started_ = 0;
  std::vector<std::int64_t> damaged_;
  bool may_retain_ = false;  // options_.known has no checkpoint that the newest good one has not superseded
  std::mutex commit_mutex_;  // also of options_.known
  OwedViews owed_views_;     // rank 0's background work has it, under that mutex
  ShardWriter writer_;       // last: ends first
};

/// Saves one checkpoint and waits until it is committed and its view is written. Collective. The result is the same on all
/// ranks. A checkpoint that some rank cannot write is dropped everywhere and its remains are removed; nothing committed is
/// touched. Values that differ between ranks throw Error (it is a bug of the train function), as does a directory of that
/// number that exists already: then another attempt owns the run now.
SaveResult save(const State& state, const SaverOptions& options, const Meta& meta, Communicator& communicator);

}  // namespace trainrt::checkpoint
