#pragma once
#include <string>
#include <vector>

#include <trainrt/communicator.hpp>

#include "checkpoint/load/newest_intact.hpp"

namespace trainrt::checkpoint {

/// Confirms that all `candidates`, checkpoints that a load found damaged, are really damaged, by reading each of them
/// twice more. In the second reading, each rank verifies the bytes that another rank verified in the first. Throws
/// CannotRead, because a restart may help, in these cases:
/// - an error was a temporary storage error
/// - a reading finds a candidate intact
/// - only one of several hosts (or ranks, if there is one host) finds the damage
///
/// In all other cases, returns an error message for the user: `what` and one line per candidate. Collective; the result is
/// the same on all ranks.
std::string confirm_damaged(const std::string& what, const std::vector<CheckpointCandidate>& candidates,
                            const SkippedCheckpoints& skipped, Communicator& communicator);

/// Confirms with confirm_damaged() that all checkpoints of a run are damaged, and throws AllDamaged with the message of
/// confirm_damaged() followed by the sentence `remedy`. Throws CannotRead if the damage is not confirmed. Collective.
[[noreturn]] void refuse_damaged(const std::string& what, const std::string& run_dir, const std::string& remedy,
                                 const std::vector<CheckpointCandidate>& candidates, const SkippedCheckpoints& skipped,
                                 Communicator& communicator);

}  // namespace trainrt::checkpoint
