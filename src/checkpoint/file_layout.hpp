#pragma once
#include <span>
#include <string_view>
#include <trainrt/checkpoint_store.hpp>
#include <vector>

namespace trainrt::checkpoint {

/// The shard file of each rank, numbered from 0 without gaps by their lowest rank. `node_of_rank` has one number a rank,
/// the same for ranks of a node. Pure.
std::vector<int> files_of_ranks(FileLayout layout, std::span<const int> node_of_rank);

}  // namespace trainrt::checkpoint
