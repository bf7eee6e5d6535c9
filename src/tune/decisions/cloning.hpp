#pragma once
#include <optional>

#include "tune/record/history.hpp"
#include "tune/record/sweep.hpp"
#include "tune/search/scheduler.hpp"

namespace trainrt::tune {

/// Makes a trial the clone that was decided: links the newest checkpoint of its donor (src/tune/details.md) and computes
/// the values of the clone. The caller has claimed the trial. The donor's files are not changed; a donor that is still
/// training may remove its checkpoint meanwhile, then the next one is linked.
Clone make_clone(const Sweep& sweep, const Scheduler& scheduler, const History& history, std::uint64_t trial);

/// Removes the link from which a generation started, when the generation has its own checkpoints or is done.
void remove_clone(const Sweep& sweep, std::uint64_t trial, int generation);

}  // namespace trainrt::tune
