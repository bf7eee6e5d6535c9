#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "batch/restart_decision.hpp"

namespace trainrt::cli {

/// Returns the srun command, up to the program that it starts.
/// - `shape` names the nodes and the number of tasks of the job step, if it does not use the complete allocation. With
///   RestartDecision::shares_cpus, each node gets an equal number of consecutive ranks, which share all its CPUs.
/// - `user_options` are further options of srun, separated by blanks (TRAINRT_SRUN_ARGS). Options of `shape` override them.
/// - `input_only_to_first_rank` passes standard input to rank 0 only, instead of to all ranks.
///
/// Pure function.
std::vector<std::string> srun_command(const batch::RestartDecision& shape, std::string_view user_options,
                                      bool input_only_to_first_rank);

}  // namespace trainrt::cli
