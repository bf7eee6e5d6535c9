#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "checkpoint/format/index.hpp"
#include "checkpoint/format/manifest.hpp"

namespace trainrt::checkpoint {

/// Bytes [begin, end) of a file.
struct Run {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// The index of a part, held against its place: it is of the rank that the manifest says, its blocks lie inside the HDF5
/// part and do not overlap, and each of its entries lies in its blocks. Sorts the blocks. Returns what they cover, as few
/// runs as it takes. What does not hold throws Error naming `path`. Pure.
std::vector<Run> check_part(Index& index, const ShardRecord& shard, const PartRecord& part, const std::string& path);

/// Throws Error naming `path` unless the runs of all parts of a file tile [0, bytes): no gap, nothing twice. Pure.
void check_tiling(std::vector<Run> runs, std::uint64_t bytes, const std::string& path);

}  // namespace trainrt::checkpoint
