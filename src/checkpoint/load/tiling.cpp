#include "checkpoint/load/tiling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <trainrt/error.hpp>

namespace trainrt::checkpoint {

namespace {

bool covers(const std::vector<Run>& runs, const IndexEntry& entry) {
  if (entry.bytes == 0) return true;
  const auto behind =
      std::upper_bound(runs.begin(), runs.end(), entry.at, [](std::uint64_t at, const Run& run) { return at < run.begin; });
  return behind != runs.begin() && entry.at + entry.bytes <= std::prev(behind)->end;
}

/// Blocks are sorted and end before 2^63.
std::vector<Run> runs_of(const std::vector<BlockRecord>& blocks, const std::string& path) {
  std::vector<Run> runs;
  for (const auto& block : blocks) {
    if (!runs.empty() && block.at < runs.back().end)
      throw Error(fmt::format("'{}': two blocks hold byte {}", path, block.at));
    if (!runs.empty() && block.at == runs.back().end)
      runs.back().end += block.bytes;
    else
      runs.push_back({block.at, block.at + block.bytes});
  }
  return runs;
}

}  // namespace

std::vector<Run> check_part(Index& index, const ShardRecord& shard, const PartRecord& part, const std::string& path) {
  if (index.rank != part.rank)
    throw Error(fmt::format("'{}': the index at byte {} is of rank {}, not {}", path, part.at, index.rank, part.rank));
  std::sort(index.blocks.begin(), index.blocks.end(),
            [](const BlockRecord& a, const BlockRecord& b) { return a.at < b.at; });
  for (const auto& block : index.blocks)
    if (block.bytes > shard.hdf5_bytes() || block.at > shard.hdf5_bytes() - block.bytes)
      throw Error(fmt::format("'{}': a block at byte {} ends behind the {} bytes that there are", path, block.at,
                              shard.hdf5_bytes()));
  auto runs = runs_of(index.blocks, path);
  for (const auto* entries : {&index.tensors, &index.values})
    for (const auto& entry : *entries)
      if (!covers(runs, entry))
        throw Error(
            fmt::format("'{}': '{}' lies outside the blocks of rank {}, which wrote it", path, entry.name, part.rank));
  return runs;
}

void check_tiling(std::vector<Run> runs, std::uint64_t bytes, const std::string& path) {
  std::sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) { return a.begin < b.begin; });
  std::uint64_t end = 0;
  for (const auto& run : runs) {
    if (run.begin < end) throw Error(fmt::format("'{}': two ranks hold byte {}", path, run.begin));
    if (run.begin > end) break;
    end = run.end;
  }
  if (end != bytes) throw Error(fmt::format("'{}': no block holds byte {}", path, end));
}

}  // namespace trainrt::checkpoint
