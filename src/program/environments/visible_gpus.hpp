#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace trainrt::program {

/// Returns the GPU names in the value `variable` of CUDA_VISIBLE_DEVICES: "0", "3", "GPU-5f2c...". The index of a name
/// is the CUDA device number (CUDA C++ Programming Guide, "CUDA Environment Variables"). Returns nothing if the
/// variable is not set; the name of CUDA device N is then N.
std::optional<std::vector<std::string>> names_of_gpus(const char* variable);

/// Returns the GPU names for the CUDA device numbers `gpus` of one rank. `names`: result of names_of_gpus().
std::vector<std::string> names_of_own_gpus(std::span<const int> gpus, const std::optional<std::vector<std::string>>& names);

/// Returns the value of CUDA_VISIBLE_DEVICES for a rank's program, "" if the rank has no GPU. `of_node`: GPU names of
/// each rank of the node, by local rank; `names`: GPUs that this rank sees. If the rank sees all GPUs of the node, the
/// value contains all of them, since GPUs can then copy to each other (P2P). It begins with one GPU of each rank, in
/// the order of the ranks; thus device LOCAL_RANK belongs to the rank. With `own_only`, or if the rank does not see all
/// GPUs, the value contains only the GPUs of this rank. Pure function.
std::string visible_gpus(std::span<const std::vector<std::string>> of_node, std::size_t local_rank,
                         const std::optional<std::vector<std::string>>& names, bool own_only);

}  // namespace trainrt::program
