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

/// A contiguous range of bytes of a file.
struct BlockExtent {
  std::uint64_t at = 0;
  std::uint64_t bytes = 0;
};

/// The memory that the bytes of a slab are copied from.
struct TensorSource {
  std::uint64_t at = 0;  ///< position in the file
  std::uint64_t bytes = 0;
  std::size_t tensor = 0;   ///< index in State::tensors()
  std::uint64_t first = 0;  ///< offset in the tensor's memory, bytes
};

/// Describes what one rank writes into its shard file, and the positions. Depends only on names and shapes, so one plan is
/// used for all saves until those change.
struct ShardPlan {
  int rank = 0;
  std::string file;                               ///< "shard-00000.h5"
  std::uint64_t file_bytes = 0;                   ///< size of the file, including the indices of all its ranks
  std::shared_ptr<const io::H5Memory> structure;  ///< the file without data
  std::vector<TensorSource> sources;              ///< sorted by position in the file
  std::string tensors_text;                       ///< entries_text() of the slabs that this rank writes
  std::vector<IndexEntry> values;                 ///< values that this rank writes, in the state's order; bytes: room_of()
  std::vector<BlockExtent> blocks;                ///< everything that this rank writes except its index
  BlockExtent index;                              ///< position of its index
};

/// Returns the plan of a rank. HDF5 builds the structure of the file in memory. All ranks of a file do so and get the same
/// positions without communication.
ShardPlan plan_shard(const Layout& layout, const State& state, int rank);

}  // namespace trainrt::checkpoint
