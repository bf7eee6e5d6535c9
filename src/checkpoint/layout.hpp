#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <trainrt/checkpoint_store.hpp>
#include <trainrt/state.hpp>

namespace trainrt::checkpoint {

/// A box of a tensor and the rank that writes it.
struct Slab {
  Shape offset;
  Shape shape;
  int writer = 0;
  std::size_t number = 0;  ///< among all slabs of the tensor; the planner gives it
};

/// Who writes what of a tensor: replicated: slabs in row-major order that tile it, one if it is small; sharded: slabs
/// that tile it; per_rank: each rank's own, in rank order. In a layout that is not complete, only some of these.
struct TensorLayout {
  std::string name;
  DType dtype = DType::f32;
  Placement placement = Placement::replicated;
  Shape global_shape;
  std::vector<Slab> slabs;

  bool is_whole() const { return placement == Placement::replicated && slabs.size() == 1; }
};

/// Which rank writes what into which file. The same on every rank as far as it is complete.
struct Layout {
  int ranks = 0;
  bool complete = true;               ///< all slabs are listed; else slabs of other files are left out
  std::vector<int> file_of_rank;      ///< files are numbered from 0
  std::vector<TensorLayout> tensors;  ///< by name

  int files() const;
  int values_writer() const { return 0; }
};

/// The tensors of a state by name, each with its entries: one, or several slabs.
struct TensorGroup {
  const TensorEntry* first = nullptr;
  std::vector<const TensorEntry*> entries;
};
std::vector<TensorGroup> tensors_by_name(const State& state);

/// Assigns every item to one of the writers so that all write about as much, counting what each writes anyway (`load`,
/// bytes a writer): largest item first, to the least loaded (Graham, "Bounds on multiprocessing timing anomalies", 1969).
/// Equal items and loads go by number, so every rank computes the same. Pure.
std::vector<int> assign_writers(std::span<const std::uint64_t> item_bytes, const std::vector<std::uint64_t>& load);

/// Replicated tensors of at least so many bytes are split if that evens out what the writers write.
inline constexpr std::uint64_t splittable_bytes = std::uint64_t{4} << 20;

/// The box of `count` rows from `first` on, if a row is what one index of the tensor's first axis longer than 1 holds.
/// Contiguous in a row-major tensor. Pure.
Slab rows_of(const Shape& shape, std::int64_t first, std::int64_t count, int writer);
std::int64_t row_count(const Shape& shape);

/// The layout of a state whose ranks hold these slabs: `held[rank][i]` are the slabs of the i-th sharded tensor by name.
/// If several ranks hold the same slab the lowest writes it. Slabs that overlap otherwise or leave a gap throw
/// UsageError. Pure.
Layout plan_layout(const State& state, const std::vector<std::vector<std::vector<Slab>>>& held,
                   std::vector<int> file_of_rank);

/// Makes a layout one sharded tensor at a time, so that the slabs of all ranks need not be in memory at once.
class LayoutPlanner {
 public:
  /// `own_file`: once sharded and per_rank tensors have more than `most_slabs` slabs in all, the layout lists those of that
  /// file alone, so that it stays small for any number of ranks and tensors; -1: all.
  LayoutPlanner(const State& state, std::vector<int> file_of_rank, int own_file = -1, std::size_t most_slabs = 0);
  /// The next sharded tensor by name: the slabs that the ranks hold. Throws as plan_layout().
  void add(std::vector<Slab> held);
  /// All sharded tensors are added.
  Layout finish();

 private:
  void keep(TensorLayout& tensor);

  Layout layout_;
  int own_file_;
  std::size_t slabs_left_;            // that may still be kept, whosever they are
  std::vector<std::uint64_t> load_;   // bytes that each rank writes
  std::vector<std::size_t> sharded_;  // their places in the layout
  std::size_t next_ = 0;
};

std::string_view name_of(Placement placement);  ///< "replicated", "sharded", "per_rank"

/// The shard file of each rank, numbered from 0 without gaps by their lowest rank. `node_of_rank` has one number a rank,
/// the same for ranks of a node. Pure.
std::vector<int> files_of_ranks(FileLayout layout, std::span<const int> node_of_rank);

}  // namespace trainrt::checkpoint
