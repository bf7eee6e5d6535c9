#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace trainrt::program {

/// The names of CUDA_VISIBLE_DEVICES (CUDA C++ Programming Guide, "CUDA Environment Variables"), by CUDA's numbers: "0",
/// "3", "GPU-5f2c...". Nothing if the variable is not set: then number N is called N.
std::optional<std::vector<std::string>> names_of_gpus(const char* variable);

/// What the GPUs of one rank are called.
std::vector<std::string> called(std::span<const int> gpus, const std::optional<std::vector<std::string>>& names);

/// What CUDA_VISIBLE_DEVICES is to be in a rank's program. `of_node`: the GPUs of the node's ranks, by local rank;
/// `names`: those that this rank sees. The node's GPUs if it sees them all, so that they can copy to each other (P2P):
/// first one of each rank, in the order of the ranks, so that number LOCAL_RANK is the rank's own; else, or if `own_only`,
/// the rank's. "" if it has none. Pure.
std::string visible_gpus(std::span<const std::vector<std::string>> of_node, std::size_t local_rank,
                         const std::optional<std::vector<std::string>>& names, bool own_only);

}  // namespace trainrt::program
