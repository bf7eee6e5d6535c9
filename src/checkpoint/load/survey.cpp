#include "checkpoint/load/survey.hpp"

#include <algorithm>

#include <fmt/format.h>
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

Survey::Survey(std::string checkpoint_dir, const Manifest& manifest, ReadPlan& plan, int reader, int readers)
    : checkpoint_dir_(std::move(checkpoint_dir)),
      manifest_(manifest),
      plan_(plan),
      reader_(static_cast<std::size_t>(reader)),
      readers_(static_cast<std::size_t>(readers)),
      parts_(parts_of(manifest)) {}

Index Survey::add(std::size_t number, const std::string& text) {
  const auto& part = parts_[number];
  const auto path = path_of(part.shard);
  auto index = index_from(text, path);
  const auto runs = check_part(index, part.shard_of(manifest_), part.record(manifest_), path);
  if (checks_tiling_of(part.shard)) {
    auto& known = runs_[part.shard];
    known.insert(known.end(), runs.begin(), runs.end());
  }
  contents_.add(index, path);
  plan_.add({part.shard, index.rank, index.tensors, index.values, index.blocks}, is_home(number));
  return index;
}

std::vector<std::string> Survey::findings() const {
  auto findings = contents_.incomplete(manifest_.meta.ranks);
  for (auto& finding : findings) finding = "'" + checkpoint_dir_ + "': " + finding;
  for (const auto& [shard, runs] : runs_) try {
      check_tiling(runs, manifest_.shards[shard].hdf5_bytes(), path_of(shard));
    } catch (const Error& error) {
      findings.emplace_back(error.what());
    }
  return findings;
}

}  // namespace trainrt::checkpoint
