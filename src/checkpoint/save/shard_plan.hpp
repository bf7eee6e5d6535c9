#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <trainrt/state.hpp>
#include <vector>

#include "checkpoint/format/index.hpp"
#include "checkpoint/layout.hpp"
#include "io/hdf5/h5_memory.hpp"

namespace trainrt::checkpoint {

/// A run of bytes of a file.
struct Extent {
  std::uint64_t at = 0;
  std::uint64_t bytes = 0;
};

/// Where the bytes of a slab come from: so far into the memory of the state's tensor of that number.
struct TensorSource {
  std::uint64_t at = 0;  ///< in the file
  std::uint64_t bytes = 0;
  std::size_t tensor = 0;  ///< number in State::tensors()
  std::uint64_t first = 0;
};

/// What one rank writes into its shard file, and where. It depends on names and shapes only, not on what is in the tensors:
/// made once, used for every save.
struct ShardPlan {
  int rank = 0;
  std::string file;              ///< "shard-00000.h5"
  std::uint64_t file_bytes = 0;  ///< of the whole file, all ranks' indices included
  std::shared_ptr<const io::H5Memory> structure;
  std::vector<TensorSource> sources;  ///< by their place in the file
  std::string tensors_text;           ///< the slabs that this rank writes, for its index
  std::vector<IndexEntry> values;     ///< values that this rank writes, in the state's order; bytes: the room of each
  std::vector<Extent> blocks;         ///< all that this rank writes but its index, in pieces of at most block_bytes
  Extent index;                       ///< where its index goes
};

/// The plan of a rank for a state of that layout. HDF5 builds the structure in memory; every rank of a file does so and
/// finds the same places, so nothing is sent.
ShardPlan plan_shard(const Layout& layout, const State& state, int rank);

}  // namespace trainrt::checkpoint
