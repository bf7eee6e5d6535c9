#pragma once
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "checkpoint/format/manifest.hpp"
#include "checkpoint/save/phases.hpp"

namespace trainrt::checkpoint {

struct Retention {
  std::int64_t num_to_keep = 0;  ///< 0 = all
  std::string score_attribute;   ///< "" = the newest are best
  bool maximize = true;
};

/// Which checkpoints to delete: all but the best K and the latest of the good ones. NaN and missing scores rank worst, of
/// equal ones the newer is better. Those that only a stop asked for rank behind all others, so that a run that was stopped
/// keeps what a quiet one keeps; the latest is the newest, though, if there are no scores. A damaged one takes no place
/// among the K: it goes once K good ones are there, one of them newer. One that awaits its validation
/// stays. Pure.
std::vector<std::int64_t> to_delete(const std::vector<Meta>& good, const Retention& retention,
                                    const std::vector<std::int64_t>& damaged = {});

/// All of them, by the score: NaN and missing ones rank last, of equal ones the newer is better. Pure.
std::vector<Meta> best_first(std::vector<Meta> good, const Retention& retention);

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

/// The same, watched.
void retain(const std::string& run_dir, const std::string& private_dir, const Retention& retention,
            std::set<std::int64_t>& known, const std::vector<std::int64_t>& damaged, const Observer& observer);

}  // namespace trainrt::checkpoint
