#pragma once
#include <string>
#include <vector>

namespace trainrt::program {

/// Returns the launcher that the command runs, such as "torchrun" or "accelerate launch"; "" if the command runs no known
/// launcher. A launcher starts processes of its own.
std::string launcher_in(const std::vector<std::string>& command);

/// Returns the command without its launcher, for a message: "python3 train.py --lr 0.1" for "torchrun --nproc-per-node 2
/// train.py --lr 0.1"; "python3 SCRIPT ARGS" if the command names no Python script.
std::string command_without_launcher(const std::vector<std::string>& command);

/// Checks the command of a run with `ranks` ranks on `nodes` nodes. `start` is the command line of trainrt in messages,
/// such as "trainrt -n 2". Throws UsageError if the command runs a launcher, which every rank would start. Returns a
/// warning if there is only one rank, or one per node; "" if the command runs no launcher.
std::string check_launcher(const std::vector<std::string>& command, int ranks, int nodes, const std::string& start);

}  // namespace trainrt::program
