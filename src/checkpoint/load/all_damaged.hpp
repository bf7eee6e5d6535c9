#pragma once
#include <string>
#include <vector>

#include <trainrt/communicator.hpp>

#include "checkpoint/load/newest_intact.hpp"

namespace trainrt::checkpoint {

/// Reads `candidates`, which a load found damaged, twice more; in the second reading each rank reads the share of another
/// rank. Throws CannotRead, because a restart may help, if a finding was a temporary storage error, if a reading finds a
/// candidate intact, or if only one of several hosts (or ranks) finds the damage. Otherwise returns the message for the
/// user: `what` and a line for each candidate. Collective; the result is the same on all ranks.
std::string confirm_damaged(const std::string& what, const std::vector<CheckpointCandidate>& candidates,
                            const SkippedCheckpoints& skipped, Communicator& communicator);

/// Confirms the damage of all checkpoints of a run and throws AllDamaged with that message and the sentence `remedy`.
/// Throws CannotRead if the damage is not confirmed. Collective.
[[noreturn]] void refuse_damaged(const std::string& what, const std::string& run_dir, const std::string& remedy,
                                 const std::vector<CheckpointCandidate>& candidates, const SkippedCheckpoints& skipped,
                                 Communicator& communicator);

}  // namespace trainrt::checkpoint
