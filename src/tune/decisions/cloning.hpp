#pragma once
#include <optional>

#include "tune/record/history.hpp"
#include "tune/record/sweep.hpp"
#include "tune/search/scheduler.hpp"

namespace trainrt::tune {

/// Makes the clone that was decided of a trial: links the newest checkpoint of its donor (src/tune/README.md), and says
/// the values that it goes on with. The trial is claimed, so that nobody else does. Nothing of the donor is changed; one
/// that trains on meanwhile may take its checkpoint away at any time.
Clone made_clone(const Sweep& sweep, const Scheduler& scheduler, const History& history, std::uint64_t trial);

/// Removes the link with which a generation began: it has checkpoints of its own, or is over.
void remove_clone(const Sweep& sweep, std::uint64_t trial, int generation);

}  // namespace trainrt::tune
