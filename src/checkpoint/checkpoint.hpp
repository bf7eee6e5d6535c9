#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <trainrt/communicator.hpp>
#include <trainrt/state.hpp>

namespace trainrt::checkpoint {

/// What a manifest says of a checkpoint besides its files.
struct Meta {
  std::int64_t index = 0;                 ///< NNNNNN of checkpoint_NNNNNN
  std::int64_t iteration = 0;             ///< reports that it includes
  std::int64_t step = 0;                  ///< steps that it includes
  int ranks = 0;                          ///< that wrote it
  int attempt = 0;                        ///< 0: a CheckpointStore's, which counts neither reports nor steps
  std::string created;                    ///< UTC
  std::map<std::string, double> metrics;  ///< numbers of the last report (NaN where it was NaN)
  std::string metadata = "{}";            ///< a JSON object of the user's
  bool at_stop = false;                   ///< taken only because the run stopped there: a quiet run has none
  double iteration_s = 0;                 ///< time that the iteration under way has taken up to here, in all attempts
};

struct SaveResult {
  std::int64_t index = -1;
  bool committed = false;
  std::string directory;      ///< where committed
  std::string error;          ///< else why not, with rank, host and file
  bool lost = false;          ///< another attempt owns the run now
  bool may_pass = false;      ///< the storage was away, and may be back by itself
  std::int64_t began_ms = 0;  ///< when it began and when it ended, by rank 0's clock (monotonic_seconds())
  std::int64_t ended_ms = 0;
  std::uint64_t bytes = 0;
};

struct LoadResult {
  Meta meta;
  std::string directory;
  std::vector<std::string> skipped;   ///< why each newer checkpoint was passed over (damaged)
  std::vector<std::int64_t> damaged;  ///< indices of those
  std::vector<std::string> notes;     ///< what else the user should know: a view that is missing
  std::set<std::string> untouched;    ///< tensors of the state that were left as they were
};

/// Loads the newest checkpoint of `run_dir` that is whole. Collective. nullopt where there is none at all. Where there are
/// some but all are damaged: Error that names them. A checkpoint of a different model (missing, extra or differing tensors)
/// throws UsageError that names every tensor that differs; nothing is loaded then.
///
/// Each rank reads what it holds, into the state's memory, and a block or two more; all ranks together check every byte of
/// the checkpoint. Where the state has optional tensors everything is checked before anything is copied: what a damaged
/// checkpoint has of them an older one may lack.
std::optional<LoadResult> load_latest(const State& state, const std::string& run_dir, Communicator& communicator);

/// The same, of these checkpoints of the run: a listing that the caller trusts. The same on all ranks, ascending.
std::optional<LoadResult> load_latest(const State& state, const std::string& run_dir,
                                      const std::vector<std::int64_t>& indices, Communicator& communicator);

/// What a new run takes from another one's checkpoint.
struct Selection {
  /// Patterns of names (fnmatch(3): * ? []; * crosses '/'), the last that matches decides, one with a leading '!' keeps its
  /// names out. Empty: everything, as load_latest().
  std::vector<std::string> patterns;
};
struct PartialResult {
  LoadResult loaded;
  std::vector<std::string> taken;    ///< entries that were loaded
  std::vector<std::string> missing;  ///< entries of the state that were wanted and are not in the checkpoint
  std::vector<std::string> unused;   ///< entries of the checkpoint that were wanted and are not in the state
};
/// Loads from one checkpoint directory, or from the newest whole one of a run directory. Collective. Entries that are
/// wanted and there with another dtype or shape throw UsageError; damage throws Error.
PartialResult load_from(const State& state, const std::string& path, const Selection& selection,
                        Communicator& communicator);

/// Metas of the committed checkpoints of a run, oldest first. Damaged manifests are left out. Not collective.
std::vector<Meta> list(const std::string& run_dir);

/// The newest of them; nullopt if there is none. Reads no older manifest unless the newer ones are damaged. Not collective.
std::optional<Meta> newest(const std::string& run_dir);

/// Highest NNNNNN of any checkpoint_NNNNNN in the run, damaged ones too; -1 where there is none.
std::int64_t highest_index(const std::string& run_dir);

/// The number of the checkpoint that follows `highest`. UsageError if that is beyond all that a run can reach: then
/// somebody else has made a directory of such a name in `run_dir`.
std::int64_t index_after(std::int64_t highest, const std::string& run_dir);

std::string directory_name(std::int64_t index);  ///< "checkpoint_000012"

struct Retention {
  std::int64_t num_to_keep = 0;  ///< 0 = all
  std::string score_attribute;   ///< "" = the newest are best
  bool maximize = true;
};

/// Which checkpoints to delete: all but the best K and the latest of the good ones. NaN and missing scores rank worst, of
/// equal ones the newer is better. Those that only a stop asked for rank behind all others, so that a run that was stopped
/// keeps what a quiet one keeps; the latest is the newest, though, if there are no scores. A damaged one takes no place
/// among the K: it goes once K good ones are there, one of them newer. Pure.
std::vector<std::int64_t> to_delete(const std::vector<Meta>& good, const Retention& retention,
                                    const std::vector<std::int64_t>& damaged = {});

/// The best of them by the score; of equal ones the newer. nullptr if none has a score. Pure.
const Meta* best_of(const std::vector<Meta>& good, const Retention& retention);

/// Deletes by to_delete(): each is renamed into `private_dir`, which is there, first, so that no half of it can be loaded.
/// Only checkpoints in `known` count and are deleted; those that are leave it. The caller has seen each of them superseded:
/// it listed them when it began and loaded the newest of them, or committed them itself. Whatever else is in the directory
/// came there in a way that the caller does not know, and stays. Damaged are those whose manifest is, and those that the
/// caller found damaged (LoadResult::damaged); one whose manifest cannot be read for another reason counts neither as good
/// nor as damaged, and stays. One rank calls.
void retain(const std::string& run_dir, const std::string& private_dir, const Retention& retention,
            std::set<std::int64_t>& known, const std::vector<std::int64_t>& damaged = {});

}  // namespace trainrt::checkpoint
