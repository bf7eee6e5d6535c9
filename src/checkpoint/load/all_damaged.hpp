#pragma once
#include <string>
#include <vector>

#include <trainrt/communicator.hpp>

#include "checkpoint/load/first_whole.hpp"

namespace trainrt::checkpoint {

/// Throws the error of a load that has found all `candidates` damaged. Collective: the same on all ranks. AllDamaged, as a
/// restart does not help, only if no storage error that may pass was among the findings, and two more readings, in the
/// second of which each rank reads the share of another, find all of them damaged, not by one host (or rank) alone if there
/// are several. Else CannotRead, as a restart may help. `what` is
/// the first line of the message; `directory` is the run's or the checkpoint's; `remedy` is a sentence.
[[noreturn]] void refuse_damaged(const std::string& what, const std::string& directory, const std::string& remedy,
                                 const std::vector<Candidate>& candidates, const Skipped& skipped,
                                 Communicator& communicator);

}  // namespace trainrt::checkpoint
