#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <trainrt/state.hpp>

namespace trainrt::checkpoint {

/// A box of a tensor and the rank whose shard holds it.
struct Slab {
  Shape offset;
  Shape shape;
  int writer = 0;
};

/// Which shards hold a tensor: replicated: one slab, the whole; sharded: slabs that tile it; per_rank: each rank's own, in
/// rank order. A rank writes at most one slab of a tensor.
struct TensorLayout {
  std::string name;
  DType dtype = DType::f32;
  Placement placement = Placement::replicated;
  Shape global_shape;
  std::vector<Slab> slabs;
};

/// Which rank writes what. The same on every rank.
struct Layout {
  int ranks = 0;
  std::vector<TensorLayout> tensors;  ///< by name
};

/// Assigns every item to one of the writers so that all write about as much, counting what each writes anyway (`load`,
/// bytes a writer): largest item first, to the least loaded (Graham, "Bounds on multiprocessing timing anomalies", 1969).
/// Equal items and loads go by number, so every rank computes the same. Pure.
std::vector<int> assign_writers(std::span<const std::uint64_t> item_bytes, std::vector<std::uint64_t> load);

/// The layout of a state whose ranks hold these slabs: `held[rank][i]` is the slab of the i-th sharded tensor by name.
/// Where several ranks hold the same slab the lowest writes it. Slabs that overlap otherwise or leave a gap throw
/// UsageError. Pure.
Layout plan_layout(const State& state, const std::vector<std::vector<Slab>>& held);

/// Tensors of a state by name, the order in which ranks speak of them.
std::vector<const TensorEntry*> tensors_by_name(const State& state);

std::string_view name_of(Placement placement);  ///< "replicated", "sharded", "per_rank"

}  // namespace trainrt::checkpoint
