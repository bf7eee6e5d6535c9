#pragma once
#include <string>
#include <trainrt/state.hpp>

#include "checkpoint/layout.hpp"

namespace trainrt::checkpoint {

/// The bytes of state.h5, which shows every tensor and value of a checkpoint as a dataset under its own name, for h5py,
/// h5dump and for loading: external links to what lies whole in one shard; virtual datasets for what is split (a missing
/// shard shows as NaN, or 0 for integers) and, with a first axis over the ranks, for per_rank tensors. It names the shards
/// beside it, wherever the directory is.
std::string whole_view(const Layout& layout, const State& state);

}  // namespace trainrt::checkpoint
