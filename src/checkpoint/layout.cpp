#include "checkpoint/layout.hpp"

#include <algorithm>
#include <numeric>
#include <trainrt/error.hpp>

namespace trainrt::checkpoint {

namespace {

std::uint64_t bytes_of(const Shape& shape, DType dtype) {
  return static_cast<std::uint64_t>(element_count(shape)) * size_of(dtype);
}

std::string describe(const Slab& slab) {
  return "rank " + std::to_string(slab.writer) + "'s, " + to_string(slab.shape) + " at " + to_string(slab.offset);
}

bool overlap(const Slab& a, const Slab& b) {
  for (std::size_t axis = 0; axis < a.offset.size(); ++axis)
    if (a.offset[axis] >= b.offset[axis] + b.shape[axis] || b.offset[axis] >= a.offset[axis] + a.shape[axis]) return false;
  return true;
}

/// The first axis along which the slabs start at different places: comparing only neighbours there is enough for most.
std::size_t split_axis(const std::vector<Slab>& slabs) {
  for (std::size_t axis = 0; axis < slabs.front().offset.size(); ++axis)
    for (const auto& slab : slabs)
      if (slab.offset[axis] != slabs.front().offset[axis]) return axis;
  return 0;
}

void check_tiling(const TensorLayout& tensor) {
  auto slabs = tensor.slabs;
  std::erase_if(slabs, [](const Slab& slab) { return element_count(slab.shape) == 0; });
  const auto wanted = element_count(tensor.global_shape);
  std::int64_t found = 0;
  for (const auto& slab : slabs) found += element_count(slab.shape);
  if (!slabs.empty()) {
    const auto axis = split_axis(slabs);
    std::sort(slabs.begin(), slabs.end(), [&](const Slab& a, const Slab& b) { return a.offset[axis] < b.offset[axis]; });
    for (auto a = slabs.begin(); a != slabs.end(); ++a)
      for (auto b = a + 1; b != slabs.end() && b->offset[axis] < a->offset[axis] + a->shape[axis]; ++b)
        if (overlap(*a, *b))
          throw UsageError("State: slabs of '" + tensor.name + "' overlap: " + describe(*a) + ", and " + describe(*b));
  }
  if (found != wanted)
    throw UsageError("State: the slabs of '" + tensor.name + "' hold " + std::to_string(found) + " of the " +
                     std::to_string(wanted) + " elements of its shape " + to_string(tensor.global_shape));
}

/// Each distinct slab once, by its lowest rank.
std::vector<Slab> distinct(std::vector<Slab> slabs) {
  const auto key = [](const Slab& s) { return std::tie(s.offset, s.shape, s.writer); };
  std::sort(slabs.begin(), slabs.end(), [&](const Slab& a, const Slab& b) { return key(a) < key(b); });
  const auto same = [](const Slab& a, const Slab& b) { return a.offset == b.offset && a.shape == b.shape; };
  slabs.erase(std::unique(slabs.begin(), slabs.end(), same), slabs.end());
  return slabs;
}

TensorLayout layout_of(const TensorEntry& entry, std::vector<Slab> held, int ranks) {
  TensorLayout tensor{entry.name, entry.local.dtype, entry.placement, entry.global_shape, {}};
  switch (entry.placement) {
    case Placement::sharded:
      tensor.slabs = distinct(std::move(held));
      check_tiling(tensor);
      break;
    case Placement::per_rank:
      for (int rank = 0; rank < ranks; ++rank) tensor.slabs.push_back({entry.offset, entry.global_shape, rank});
      break;
    case Placement::replicated:
      tensor.slabs.push_back({entry.offset, entry.global_shape, 0});
      break;
  }
  return tensor;
}

/// Spreads the replicated tensors over the ranks.
void balance(Layout& layout) {
  std::vector<std::uint64_t> load(static_cast<std::size_t>(layout.ranks), 0);
  std::vector<TensorLayout*> whole;
  std::vector<std::uint64_t> bytes;
  for (auto& tensor : layout.tensors) {
    if (tensor.placement == Placement::replicated) {
      whole.push_back(&tensor);
      bytes.push_back(bytes_of(tensor.global_shape, tensor.dtype));
      continue;
    }
    for (const auto& slab : tensor.slabs) load[static_cast<std::size_t>(slab.writer)] += bytes_of(slab.shape, tensor.dtype);
  }
  const auto writers = assign_writers(bytes, load);
  for (std::size_t i = 0; i < whole.size(); ++i) whole[i]->slabs.front().writer = writers[i];
}

}  // namespace

std::vector<int> assign_writers(std::span<const std::uint64_t> item_bytes, std::vector<std::uint64_t> load) {
  std::vector<std::size_t> order(item_bytes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return item_bytes[a] > item_bytes[b]; });
  std::vector<int> writers(item_bytes.size(), 0);
  for (const auto item : order) {
    const auto least = std::min_element(load.begin(), load.end());
    *least += item_bytes[item];
    writers[item] = static_cast<int>(least - load.begin());
  }
  return writers;
}

std::vector<const TensorEntry*> tensors_by_name(const State& state) {
  std::vector<const TensorEntry*> entries;
  for (const auto& entry : state.tensors()) entries.push_back(&entry);
  std::sort(entries.begin(), entries.end(), [](const auto* a, const auto* b) { return a->name < b->name; });
  return entries;
}

Layout plan_layout(const State& state, const std::vector<std::vector<Slab>>& held) {
  Layout layout;
  layout.ranks = static_cast<int>(held.size());
  std::size_t sharded = 0;
  for (const auto* entry : tensors_by_name(state)) {
    std::vector<Slab> slabs;
    if (entry->placement == Placement::sharded) {
      for (const auto& of_rank : held) slabs.push_back(of_rank.at(sharded));
      ++sharded;
    }
    layout.tensors.push_back(layout_of(*entry, std::move(slabs), layout.ranks));
  }
  balance(layout);
  return layout;
}

std::string_view name_of(Placement placement) {
  switch (placement) {
    case Placement::replicated:
      return "replicated";
    case Placement::sharded:
      return "sharded";
    case Placement::per_rank:
      return "per_rank";
  }
  return "unknown";
}

}  // namespace trainrt::checkpoint
