#pragma once
#include <string>
#include <vector>

#include <trainrt/communicator.hpp>

#include "checkpoint/load/first_whole.hpp"

namespace trainrt::checkpoint {

/// Reads `candidates`, which a load has found damaged, twice more; in the second reading each rank reads the share of
/// another. Throws CannotRead, as a restart may help, if a storage error that may pass was among the findings, if one is
/// intact at another reading, or if only one of several hosts (or ranks) finds the damage. Otherwise returns the message:
/// `what` and a line for each candidate. Collective: the same on all ranks.
std::string confirm_damaged(const std::string& what, const std::vector<Candidate>& candidates, const Skipped& skipped,
                            Communicator& communicator);

/// The same for all checkpoints of a run; if the damage is confirmed, it throws AllDamaged with the sentence `remedy`.
[[noreturn]] void refuse_damaged(const std::string& what, const std::string& run_dir, const std::string& remedy,
                                 const std::vector<Candidate>& candidates, const Skipped& skipped,
                                 Communicator& communicator);

}  // namespace trainrt::checkpoint
