#pragma once
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "checkpoint/format/manifest.hpp"
#include "checkpoint/save/phases.hpp"

namespace trainrt::checkpoint {

/// The rules for deleting old checkpoints.
struct Retention {
  std::int64_t num_to_keep = 0;  ///< number of best checkpoints to keep, plus the latest; 0 keeps all
  std::string score_attribute;   ///< metric that ranks checkpoints; "": newer ones rank first
  bool maximize = true;          ///< a higher metric is better
};

/// Returns the numbers of the checkpoints to delete, in ascending order: all intact ones except the best num_to_keep and
/// the latest. Checkpoints saved only at a stop rank last, so that a stopped run keeps the same ones as an undisturbed run;
/// the latest is exempt if there is no score_attribute. A damaged checkpoint is deleted once num_to_keep intact ones exist,
/// one of them newer. A checkpoint that awaits its validation is kept. Pure function.
std::vector<std::int64_t> to_delete(const std::vector<Meta>& good, const Retention& retention,
                                    const std::vector<std::int64_t>& damaged = {});

/// Returns all checkpoints, best first. A NaN or missing score ranks last; of equal scores, the newer ranks first. Pure
/// function.
std::vector<Meta> best_first(std::vector<Meta> good, const Retention& retention);

/// Returns the checkpoint with the best score, of equal scores the newer; nullptr if no checkpoint has a score. Pure
/// function.
const Meta* best_of(const std::vector<Meta>& good, const Retention& retention);

/// Deletes the checkpoints that to_delete() returns. Each is first renamed into the existing directory `private_dir`, so
/// that a partly deleted checkpoint cannot be loaded. Only checkpoints in `known` are counted and deleted; deleted ones are
/// removed from `known`. It must contain only checkpoints that the caller loaded or committed, or that are older than
/// those; other directories are kept. A checkpoint counts as damaged if its manifest is, or if it is in `damaged`
/// (LoadResult::damaged); if its manifest cannot be read because of a storage error, it is kept. Calls `observer`
/// for Phase::retired and Phase::deleted. Must be called on one rank.
void retain(
    const std::string& run_dir, const std::string& private_dir, const Retention& retention, std::set<std::int64_t>& known,
    const std::vector<std::int64_t>& damaged = {}, const Observer& observer = [](Phase) {});

}  // namespace trainrt::checkpoint
