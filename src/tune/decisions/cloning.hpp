#pragma once
#include <optional>
#include <string>

#include "tune/record/history.hpp"
#include "tune/record/sweep.hpp"
#include "tune/search/scheduler.hpp"

namespace trainrt::tune {

/// Turns a trial into the clone that the scheduler has decided on: links a checkpoint of the donor
/// (src/tune/details.md) and computes the values of the clone. The donor's files are not changed. Precondition: the
/// caller has claimed the trial.
/// - The checkpoint is the donor's newest one or, if Scheduler::clones_from_compared_report() returns true, the newest
///   one up to the compared report.
/// - If the donor is still training and removes this checkpoint in the meantime, the next suitable checkpoint is
///   linked.
/// - If the donor has no checkpoint, Clone::checkpoint of the result is empty.
Clone make_clone(const Sweep& sweep, const Scheduler& scheduler, const History& history, std::uint64_t trial);

/// Returns the checkpoint from which a clone starts, a path in the sweep's directory: `clone_of` if it exists.
/// Otherwise, returns the newest checkpoint in the same folder, which restore_clones_from_mirror() has copied because
/// the mirror lacks `clone_of`.
std::string start_of_clone(const Sweep& sweep, const std::string& clone_of);

/// Removes the link to the checkpoint from which generation `generation` of a trial started (each cloning begins a new
/// generation). Called when the generation has its own checkpoints or is done.
void remove_clone(const Sweep& sweep, std::uint64_t trial, int generation);

}  // namespace trainrt::tune
