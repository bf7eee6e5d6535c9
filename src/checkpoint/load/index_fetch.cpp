#include "checkpoint/load/index_fetch.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <trainrt/error.hpp>

namespace trainrt::checkpoint {

namespace {

bool covers(const std::vector<ByteRange>& ranges, const IndexEntry& entry) {
  if (entry.bytes == 0) return true;
  const auto after = std::ranges::upper_bound(ranges, entry.at, {}, &ByteRange::begin);
  return after != ranges.begin() && entry.at + entry.bytes <= std::prev(after)->end;
}

/// Returns the byte ranges that `blocks` cover, with adjacent ranges merged. The blocks must be sorted by offset and end
/// before 2^63. Throws Error naming the file `path` if blocks overlap.
std::vector<ByteRange> ranges_of(const std::vector<BlockRecord>& blocks, const std::string& path) {
  std::vector<ByteRange> ranges;
  for (const auto& block : blocks) {
    if (!ranges.empty() && block.at < ranges.back().end)
      throw Error(fmt::format("'{}': two blocks contain byte {}", path, block.at));
    if (!ranges.empty() && block.at == ranges.back().end)
      ranges.back().end += block.bytes;
    else
      ranges.push_back({block.at, block.at + block.bytes});
  }
  return ranges;
}

}  // namespace

std::vector<ByteRange> check_part(Index& index, const ShardRecord& shard, const PartRecord& part, const std::string& path) {
  if (index.rank != part.rank)
    throw Error(fmt::format("'{}': the index at byte {} belongs to rank {}, not {}", path, part.at, index.rank, part.rank));
  std::ranges::sort(index.blocks, {}, &BlockRecord::at);
  for (const auto& block : index.blocks)
    if (block.bytes > shard.hdf5_bytes() || block.at > shard.hdf5_bytes() - block.bytes)
      throw Error(fmt::format("'{}': a block at byte {} ends after the {} bytes of the HDF5 part", path, block.at,
                              shard.hdf5_bytes()));
  auto ranges = ranges_of(index.blocks, path);
  for (const auto* entries : {&index.tensors, &index.values})
    for (const auto& entry : *entries)
      if (!covers(ranges, entry))
        throw Error(
            fmt::format("'{}': '{}' is outside the blocks of rank {}, which wrote it", path, entry.name, part.rank));
  return ranges;
}

void check_tiling(std::vector<ByteRange> ranges, std::uint64_t bytes, const std::string& path) {
  std::ranges::sort(ranges, {}, &ByteRange::begin);
  std::uint64_t end = 0;
  for (const auto& range : ranges) {
    if (range.begin < end) throw Error(fmt::format("'{}': two ranks wrote byte {}", path, range.begin));
    if (range.begin > end) break;
    end = range.end;
  }
  if (end != bytes) throw Error(fmt::format("'{}': no block contains byte {}", path, end));
}

IndexFetch::IndexFetch(std::string checkpoint_dir, const Manifest& manifest, ReadPlan& plan, int reader, int readers)
    : checkpoint_dir_(std::move(checkpoint_dir)),
      manifest_(manifest),
      plan_(plan),
      reader_(static_cast<std::size_t>(reader)),
      readers_(static_cast<std::size_t>(readers)),
      parts_(parts_of(manifest)) {}

Index IndexFetch::add(std::size_t number, const std::string& text) {
  const auto& part = parts_[number];
  const auto path = path_of(part.shard);
  auto index = index_from(text, path);
  const auto ranges = check_part(index, part.shard_of(manifest_), part.record(manifest_), path);
  if (checks_tiling_of(part.shard)) {
    auto& known = ranges_[part.shard];
    known.insert(known.end(), ranges.begin(), ranges.end());
  }
  contents_.add(index, path);
  plan_.add({part.shard, index.rank, index.tensors, index.values, index.blocks}, is_home(number));
  return index;
}

std::vector<std::string> IndexFetch::findings() const {
  auto findings = contents_.incomplete(manifest_.meta.ranks);
  for (auto& finding : findings) finding = "'" + checkpoint_dir_ + "': " + finding;
  for (const auto& [shard, ranges] : ranges_) try {
      check_tiling(ranges, manifest_.shards[shard].hdf5_bytes(), path_of(shard));
    } catch (const Error& error) {
      findings.emplace_back(error.what());
    }
  return findings;
}

}  // namespace trainrt::checkpoint
