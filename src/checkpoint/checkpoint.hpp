#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <trainrt/communicator.hpp>
#include <trainrt/state.hpp>

namespace trainrt::checkpoint {

/// What a manifest says of a checkpoint besides its files.
struct Meta {
  std::int64_t index = 0;      ///< NNNNNN of checkpoint_NNNNNN
  std::int64_t iteration = 0;  ///< reports that it includes
  std::int64_t step = 0;       ///< steps that it includes
  int ranks = 0;               ///< that wrote it
  int attempt = 0;
  std::string created;                    ///< UTC
  std::map<std::string, double> metrics;  ///< numbers of the last report (NaN where it was NaN)
};

struct SaveOptions {
  std::string run_dir;
  std::string private_dir;  ///< of this attempt, inside run_dir; made here when missing
  Meta meta;                ///< ranks and created are filled in
};

struct SaveResult {
  bool committed = false;
  std::string directory;  ///< where committed
  std::string error;      ///< else why not, with rank, host and file
  std::uint64_t bytes = 0;
};

/// Writes `state` as one checkpoint. Collective. The result is the same on all ranks. A checkpoint that some rank cannot
/// write is dropped everywhere and its remains are removed; nothing committed is touched. Values that differ between ranks
/// throw Error (it is a bug of the train function), as does a directory of that index that exists already: then another
/// attempt owns the run now.
SaveResult save(const State& state, const SaveOptions& options, Communicator& communicator);

struct LoadResult {
  Meta meta;
  std::string directory;
  std::vector<std::string> skipped;  ///< why each newer checkpoint was passed over (damaged)
};

/// Loads the newest checkpoint of `run_dir` that is whole. Collective. nullopt where there is none at all. Where there are
/// some but all are damaged: Error that names them. A checkpoint of a different model (missing, extra or differing tensors)
/// throws UsageError that names every tensor that differs; nothing is loaded then.
std::optional<LoadResult> load_latest(const State& state, const std::string& run_dir, Communicator& communicator);

/// Metas of the committed checkpoints of a run, oldest first. Damaged manifests are left out. Not collective.
std::vector<Meta> list(const std::string& run_dir);

/// Highest NNNNNN of any checkpoint_NNNNNN in the run, damaged ones too; -1 where there is none.
std::int64_t highest_index(const std::string& run_dir);

std::string directory_name(std::int64_t index);  ///< "checkpoint_000012"

struct Retention {
  std::int64_t num_to_keep = 0;  ///< 0 = all
  std::string score_attribute;   ///< "" = the newest are best
  bool maximize = true;
};

/// Which checkpoints to delete: all but the best K and the latest. NaN and missing scores rank worst, of equal ones the
/// newer is better. Pure.
std::vector<std::int64_t> to_delete(const std::vector<Meta>& committed, const Retention& retention);

/// Deletes by to_delete(): each is renamed into `private_dir` first, so that no half of it can be loaded. One rank calls.
void retain(const std::string& run_dir, const std::string& private_dir, const Retention& retention);

/// What `trainrt verify` says of one checkpoint: empty = whole; else what is wrong, one line a finding, each naming its
/// file.
std::vector<std::string> verify(const std::string& checkpoint_dir);

}  // namespace trainrt::checkpoint
