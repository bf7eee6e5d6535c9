#pragma once
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "checkpoint/format/manifest.hpp"
#include "checkpoint/save/phases.hpp"

namespace trainrt::checkpoint {

/// Rules for deleting old checkpoints. In the config: the keys num_to_keep, score_attribute and score_order of
/// [checkpoint].
struct Retention {
  std::int64_t num_to_keep = 0;  ///< number of best checkpoints to keep, plus the latest; 0 keeps all
  std::string score_attribute;   ///< name of the metric that ranks checkpoints; "": newer checkpoints rank first
  bool maximize = true;          ///< true: a higher score is better; false: a lower score is better
};

/// Returns the numbers of the checkpoints to delete, in ascending order. `good`: metadata of the intact checkpoints.
/// `damaged`: numbers of the damaged checkpoints. Pure function. The rules:
/// - The best num_to_keep checkpoints and the latest one are kept.
/// - A checkpoint that was saved only because of a stop (Meta::at_stop) ranks after all others. A run with stops therefore
///   keeps the same checkpoints as a run without. Exception: the latest checkpoint if score_attribute is "".
/// - A checkpoint that awaits its validation is kept. With a score_attribute, it does not count as one of num_to_keep.
/// - A damaged checkpoint is deleted if at least num_to_keep intact ones exist and one of them is newer.
std::vector<std::int64_t> to_delete(const std::vector<Meta>& good, const Retention& retention,
                                    const std::vector<std::int64_t>& damaged = {});

/// Returns the checkpoints `good`, sorted with the best one first. Checkpoints with a missing or NaN score rank last. If
/// two have the same score, the newer one ranks first. Pure function.
std::vector<Meta> best_first(std::vector<Meta> good, const Retention& retention);

/// Returns the checkpoint with the best score; nullptr if no checkpoint has a score. If several have the best score,
/// returns the newest of them. Pure function.
const Meta* best_of(const std::vector<Meta>& good, const Retention& retention);

/// Deletes the checkpoints that to_delete() selects. Each one is first renamed into the existing directory
/// `private_dir`, so that a partly deleted checkpoint cannot be loaded. Must be called on one rank only.
/// - `known`: numbers of the checkpoints that this call may delete. The caller must have loaded or committed each of
///   them, or a newer checkpoint. The numbers of deleted checkpoints are removed from `known`.
/// - `damaged`: numbers of checkpoints that a load found damaged (LoadResult::damaged). Checkpoints with a damaged
///   manifest also count as damaged. A checkpoint that cannot be read because of a storage error is kept, unless it is
///   in `damaged`.
/// - `observer`: called for Phase::retired and Phase::deleted.
void retain(
    const std::string& run_dir, const std::string& private_dir, const Retention& retention, std::set<std::int64_t>& known,
    const std::vector<std::int64_t>& damaged = {}, const Observer& observer = [](Phase) {});

}  // namespace trainrt::checkpoint
