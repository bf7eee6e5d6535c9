#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace trainrt::program {

/// Returns the names in CUDA_VISIBLE_DEVICES (CUDA C++ Programming Guide, "CUDA Environment Variables") by CUDA device
/// number: "0", "3", "GPU-5f2c...". Returns nothing if the variable is not set: device N is then named N.
std::optional<std::vector<std::string>> names_of_gpus(const char* variable);

/// Returns the names of the GPUs of one rank.
std::vector<std::string> names_of_own_gpus(std::span<const int> gpus, const std::optional<std::vector<std::string>>& names);

/// Returns the value of CUDA_VISIBLE_DEVICES for a rank's program, "" if the rank has no GPU. `of_node`: GPU names of the
/// node's ranks, by local rank; `names`: GPUs that this rank sees. The value contains all GPUs of the node if the rank sees
/// them, so that they can copy to each other (P2P): first one GPU of each rank, in the order of the ranks, so that device
/// LOCAL_RANK belongs to the rank. With `own_only`, or if the rank does not see all, it contains the rank's own GPUs. Pure.
std::string visible_gpus(std::span<const std::vector<std::string>> of_node, std::size_t local_rank,
                         const std::optional<std::vector<std::string>>& names, bool own_only);

}  // namespace trainrt::program
