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

/// A contiguous byte range of a file.
struct BlockExtent {
  std::uint64_t at = 0;     ///< offset of the first byte in the file
  std::uint64_t bytes = 0;  ///< number of bytes
};

/// Source of the bytes of a slab (a rectangular part of a tensor): a range of the tensor's memory, and the byte range of
/// the shard file that it is copied to.
struct TensorSource {
  std::uint64_t at = 0;  ///< offset of the slab in the shard file, in bytes
  std::uint64_t bytes = 0;
  std::size_t tensor = 0;   ///< index in State::tensors()
  std::uint64_t first = 0;  ///< offset of the slab in the tensor's memory, in bytes
};

/// Lists all bytes that one rank writes into its shard file, with their sources and their offsets in the file. A plan
/// depends only on names, dtypes, shapes and reserved sizes, so that one plan is used for all saves until those change.
struct ShardPlan {
  int rank = 0;
  std::string file;              ///< name of the shard file, "shard-00000.h5"
  std::uint64_t file_bytes = 0;  ///< size of the shard file in bytes, including the indices of all ranks that write into it
  std::shared_ptr<const io::H5Memory> structure;  ///< the HDF5 file without the data of tensors and values
  std::vector<TensorSource> sources;              ///< slabs that this rank writes, sorted by offset in the file
  std::string tensors_text;                       ///< entries_text() of the slabs that this rank writes
  /// Values that this rank writes, in the order of State::values(). IndexEntry::bytes is the reserved size, as returned by
  /// room_of().
  std::vector<IndexEntry> values;
  std::vector<BlockExtent> blocks;  ///< blocks of the file that this rank writes, without its index
  BlockExtent index;                ///< byte range of the file for this rank's index
};

/// Returns the plan of `rank` for its shard file. HDF5 builds the structure of the file in memory and thereby chooses the
/// offsets. All ranks that write into the same file compute the same offsets, without communication.
ShardPlan plan_shard(const Layout& layout, const State& state, int rank);

}  // namespace trainrt::checkpoint
