#include "checkpoint/load/piece_reader.hpp"

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "checkpoint/layout.hpp"
#include "checkpoint/load/index_fetch.hpp"
#include "checkpoint/load/read_blocks.hpp"
#include "checkpoint/load/read_plan.hpp"
#include "checkpoint/value_bytes.hpp"
#include "core/text/text.hpp"

namespace trainrt::checkpoint {

namespace {

bool is_own(const std::string& placement) { return placement == name_of(Placement::per_rank); }

Shape with_first(std::int64_t first, Shape shape) {
  shape.insert(shape.begin(), first);
  return shape;
}

Box without_first(const Box& box) {
  return {Shape(box.offset.begin() + 1, box.offset.end()), Shape(box.shape.begin() + 1, box.shape.end())};
}

Box box_of(const IndexEntry& entry) { return {entry.offset, entry.shape}; }

Box with_rank(int rank, const IndexEntry& entry) { return {with_first(rank, entry.offset), with_first(1, entry.shape)}; }

PieceReader::Value value_from(const std::string& dtype, std::string bytes) {
  if (dtype == "i64") return number_from<std::int64_t>(bytes);
  if (dtype == "f64") return number_from<double>(bytes);
  if (dtype == "bool") return number_from<char>(bytes) != 0;
  return bytes;
}

void throw_findings(const std::vector<std::string>& findings) {
  if (!findings.empty()) throw Error(join(findings, "; "));
}

void read_planned(const std::string& directory, const Manifest& manifest, ReadPlan& plan) {
  throw_findings(read_blocks(directory, manifest, plan.finish(), {}));
}

void check_box(const PieceReader::Tensor& tensor, const Box& box, std::size_t bytes) {
  bool inside = box.offset.size() == tensor.shape.size() && box.shape.size() == tensor.shape.size();
  for (std::size_t axis = 0; inside && axis < box.shape.size(); ++axis)
    inside = box.offset[axis] >= 0 && box.shape[axis] >= 0 && box.offset[axis] + box.shape[axis] <= tensor.shape[axis];
  if (!inside || bytes != static_cast<std::size_t>(element_count(box.shape)) * size_of(tensor.dtype))
    throw Error("cannot read " + to_string(box.shape) + " at " + to_string(box.offset) + " of '" + tensor.name + "' " +
                to_string(tensor.shape) + " into " + std::to_string(bytes) + " bytes");
}

void check_rank(std::optional<int> rank, int ranks) {
  if (rank && (*rank < 0 || *rank >= ranks))
    throw UsageError(fmt::format("the checkpoint has no tensors of rank {}: it was saved by {}", *rank,
                                 ranks == 1 ? "rank 0 only" : fmt::format("ranks 0 to {}", ranks - 1)));
}

}  // namespace

PieceReader::PieceReader(const std::string& checkpoint_dir, std::optional<int> only_rank)
    : directory_(checkpoint_dir), only_rank_(only_rank), manifest_(read_manifest(checkpoint_dir)) {
  check_rank(only_rank, manifest_.meta.ranks);
  ReadPlan nothing;
  IndexFetch fetch(directory_, manifest_, nothing, 0, 1);
  for (std::size_t number = 0; number < fetch.parts().size(); ++number) {
    const auto& part = fetch.parts()[number];
    add(part.shard, fetch.add(number, read_part(directory_, part.shard_of(manifest_), part.record(manifest_))));
  }
  throw_findings(fetch.findings());
  merge_tensors();
  read_values();
}

void PieceReader::merge_tensors() {
  std::map<std::string, Tensor> tensors;
  for (const auto& [shard, index] : indices_)
    for (const auto& entry : index.tensors) {
      const bool own = is_own(entry.placement);
      if (own && only_rank_.value_or(index.rank) != index.rank) continue;
      const bool has_rank_axis = own && !only_rank_;
      const auto whole = has_rank_axis ? with_first(manifest_.meta.ranks, entry.global_shape) : entry.global_shape;
      auto& tensor =
          tensors.try_emplace(entry.name, Tensor{entry.name, dtype_from(entry.dtype), entry.placement, whole, {}})
              .first->second;
      tensor.slabs.push_back({shard, index.rank, has_rank_axis ? with_rank(index.rank, entry) : box_of(entry)});
    }
  for (auto& [name, tensor] : tensors) tensors_.push_back(std::move(tensor));
}

void PieceReader::add(std::size_t shard, Index index) {
  std::ranges::sort(index.tensors, {}, &IndexEntry::name);
  indices_.push_back({shard, std::move(index)});
}

void PieceReader::read_values() {
  ReadPlan plan;
  struct PendingValue {
    const IndexEntry* entry;
    std::string bytes;
  };
  std::deque<PendingValue> reads;
  for (const auto& [shard, index] : indices_) {
    for (const auto& entry : index.values) plan.want_value(entry.name, reads.emplace_back(PendingValue{&entry, {}}).bytes);
    plan.add({shard, index.rank, {}, index.values, index.blocks}, false);
  }
  read_planned(directory_, manifest_, plan);
  for (auto& [entry, bytes] : reads)
    values_.push_back({entry->name, entry->dtype, value_from(entry->dtype, std::move(bytes))});
  std::ranges::sort(values_, {}, &NamedValue::name);
}

const PieceReader::Tensor& PieceReader::tensor(const std::string& name) const {
  const auto found = std::ranges::lower_bound(tensors_, name, {}, &Tensor::name);
  if (found != tensors_.end() && found->name == name) return *found;
  std::vector<std::string> names;
  for (const auto& tensor : tensors_) names.push_back(tensor.name);
  throw UsageError("'" + directory_ + "' has no tensor '" + name + "'" + did_you_mean(name, names));
}

void PieceReader::want(ReadPlan& plan, const Tensor& tensor, const Box& box, std::byte* memory) const {
  const auto element = size_of(tensor.dtype);
  if (!is_own(tensor.placement)) return plan.want(tensor.name, element, box, {memory}, false);
  if (only_rank_) return plan.want_own(tensor.name, element, box, *only_rank_, {memory});
  const auto own = without_first(box);
  const auto bytes = static_cast<std::size_t>(element_count(own.shape)) * element;
  for (std::int64_t i = 0; i < box.shape.front(); ++i)
    plan.want_own(tensor.name, element, own, static_cast<int>(box.offset.front() + i),
                  {memory + static_cast<std::size_t>(i) * bytes});
}

void PieceReader::read(std::span<const BoxRequest> requests) const {
  if (requests.empty()) return;
  ReadPlan plan;
  const auto* lowest = &requests.front().tensor->name;
  const auto* highest = lowest;
  for (const auto& [tensor, box, into] : requests) {
    check_box(*tensor, box, into.size());
    want(plan, *tensor, box, into.data());
    lowest = &std::min(*lowest, tensor->name);
    highest = &std::max(*highest, tensor->name);
  }
  for (const auto& [shard, index] : indices_) {
    const auto first = std::ranges::lower_bound(index.tensors, *lowest, {}, &IndexEntry::name);
    const auto last = std::ranges::upper_bound(first, index.tensors.end(), *highest, {}, &IndexEntry::name);
    if (first != last) plan.add({shard, index.rank, {first, last}, {}, index.blocks}, false);
  }
  for (const auto& name : plan.uncovered())
    throw Error("'" + directory_ + "': the slabs of '" + name + "' do not cover it");
  read_planned(directory_, manifest_, plan);
}

void PieceReader::read(const Tensor& tensor, const Box& box, std::span<std::byte> into) const {
  const BoxRequest request{&tensor, box, into};
  read({&request, 1});
}

void PieceReader::read(const Tensor& tensor, std::span<std::byte> into) const {
  read(tensor, {Shape(tensor.shape.size(), 0), tensor.shape}, into);
}

}  // namespace trainrt::checkpoint
