#include "checkpoint/load/read_plan.hpp"

#include <algorithm>

#include "checkpoint/layout.hpp"

namespace trainrt::checkpoint {

namespace {

/// Returns whether a stored slab, written by `rank`, can provide elements of a wanted box: same kind of placement, same
/// number of axes, and the box is inside the stored tensor. The tensor's shape may still differ; differences() reports
/// that.
bool same_kind(const Box& wanted, int writer, const IndexEntry& entry, int rank) {
  const bool own = entry.placement == name_of(Placement::per_rank);
  if (own != (writer >= 0) || wanted.shape.size() != entry.global_shape.size()) return false;
  if (own && writer != rank) return false;
  for (std::size_t axis = 0; axis < wanted.shape.size(); ++axis)
    if (wanted.offset[axis] + wanted.shape[axis] > entry.global_shape[axis]) return false;
  return true;
}

}  // namespace

void ReadPlan::want(const std::string& name, std::size_t element_bytes, Box box, Destination to, bool shared) {
  add_target({name, element_bytes, std::move(box), -1, shared, to});
}

void ReadPlan::want_own(const std::string& name, std::size_t element_bytes, Box box, int writer, Destination to) {
  add_target({name, element_bytes, std::move(box), writer, false, to});
}

void ReadPlan::want_value(const std::string& name, std::string& to) { values_[name] = &to; }

void ReadPlan::add_target(WantedBox target) {
  target.missing_bytes = static_cast<std::uint64_t>(element_count(target.box.shape)) * target.element_bytes;
  if (target.missing_bytes > 0) targets_.emplace(target.name, std::move(target));
}

void ReadPlan::find_tensor(const IndexEntry& entry, int rank, PartCopies& wanted) {
  const auto [first, last] = targets_.equal_range(entry.name);
  for (auto found = first; found != last; ++found) {
    auto& target = found->second;
    const bool same_size = size_of(dtype_from(entry.dtype)) == target.element_bytes;
    if (!same_size || !same_kind(target.box, target.writer, entry, rank)) continue;
    auto copy = std::make_shared<BoxCopy>(Box{entry.offset, entry.shape}, target.box, target.element_bytes);
    if (copy->bytes() == 0) continue;
    target.missing_bytes -= std::min(copy->bytes(), target.missing_bytes);
    wanted.copies.push_back({std::move(copy), entry.at, target.to});
    wanted.shared.push_back(target.shared);
  }
}

void ReadPlan::find_value(const IndexEntry& entry, PartCopies& wanted) {
  const auto found = values_.find(entry.name);
  if (found == values_.end()) return;
  auto& text = *found->second;
  text.assign(entry.bytes, '\0');
  if (text.empty()) return;
  const Box all{{0}, {static_cast<std::int64_t>(entry.bytes)}};
  wanted.copies.push_back({std::make_shared<BoxCopy>(all, all, 1), entry.at, {reinterpret_cast<std::byte*>(text.data())}});
  wanted.shared.push_back(true);
}

void ReadPlan::add(const Entries& entries, bool all_blocks) {
  PartCopies wanted;
  for (const auto& entry : entries.tensors) find_tensor(entry, entries.rank, wanted);
  for (const auto& entry : entries.values) find_value(entry, wanted);
  const auto& blocks = entries.blocks;
  std::vector<std::vector<std::size_t>> copies_of(blocks.size());
  for (std::size_t i = 0; i < wanted.copies.size(); ++i) {
    const auto& [copy, at, to] = wanted.copies[i];
    const auto first = std::ranges::upper_bound(blocks, at + copy->begin(), {},
                                                [](const BlockRecord& block) { return block.at + block.bytes; });
    for (auto block = first; block != blocks.end() && block->at < at + copy->end(); ++block)
      copies_of[static_cast<std::size_t>(block - blocks.begin())].push_back(i);
  }
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    if (!all_blocks && copies_of[b].empty()) continue;
    BlockRead read{blocks[b], {}};
    bool shared = false;
    for (const auto i : copies_of[b]) {
      read.copies.push_back(wanted.copies[i]);
      shared = shared || wanted.shared[i];
    }
    reads_[{entries.shard, shared}].push_back(std::move(read));
  }
}

std::vector<std::string> ReadPlan::uncovered() const {
  std::vector<std::string> names;
  for (const auto& [name, target] : targets_)
    if (target.missing_bytes > 0 && (names.empty() || names.back() != name)) names.push_back(name);
  return names;
}

std::vector<ReadPlan::FileReads> ReadPlan::finish() {
  std::vector<FileReads> files;
  for (auto& [key, blocks] : reads_) {
    std::ranges::sort(blocks, {}, [](const BlockRead& read) { return read.block.at; });
    files.push_back({key.first, key.second, std::move(blocks)});
  }
  reads_.clear();
  return files;
}

}  // namespace trainrt::checkpoint
