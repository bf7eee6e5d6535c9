#pragma once
#include <string>
#include <trainrt/state.hpp>

#include "checkpoint/format.hpp"
#include "checkpoint/layout.hpp"

namespace trainrt::checkpoint {

/// Writes the shard of `rank` into `directory`: the slabs that the layout gives it, and on rank 0 the values. Durable but
/// for its name in the directory. HDF5 builds the structure in memory; tensors go from the state's memory to the file
/// without a copy.
FileRecord write_shard(const std::string& directory, int rank, const Layout& layout, const State& state);

}  // namespace trainrt::checkpoint
