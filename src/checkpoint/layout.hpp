#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <trainrt/checkpoint_store.hpp>
#include <trainrt/state.hpp>

namespace trainrt::checkpoint {

/// A rectangular part of a tensor, and the rank that writes it.
struct Slab {
  Shape offset;
  Shape shape;
  int writer = 0;
  std::size_t number = 0;  ///< index among all slabs of the tensor, set by LayoutPlanner
};

/// The slabs of one tensor. Replicated: slabs in row-major order that tile the tensor, one slab if it is small. Sharded:
/// slabs that tile the tensor. Per_rank: one slab per rank, in rank order. An incomplete Layout lists only some of them.
struct TensorLayout {
  std::string name;
  DType dtype = DType::f32;
  Placement placement = Placement::replicated;
  Shape global_shape;
  std::vector<Slab> slabs;

  bool is_undivided() const { return placement == Placement::replicated && slabs.size() == 1; }
};

/// Assigns slabs to writing ranks, and ranks to shard files. All ranks compute the same assignment; an incomplete layout
/// omits slabs.
struct Layout {
  int ranks = 0;
  bool complete = true;               ///< false: slabs of other files are omitted
  std::vector<int> file_of_rank;      ///< one file number per rank, from 0
  std::vector<TensorLayout> tensors;  ///< sorted by name

  int files() const;  ///< number of shard files
  int file_of(int rank) const { return file_of_rank[static_cast<std::size_t>(rank)]; }
  int values_writer() const { return 0; }  ///< the rank that writes all values
};

/// The entries of a State that have one name: one entry, or several slabs of a sharded tensor.
struct TensorGroup {
  const TensorEntry* first = nullptr;
  std::vector<const TensorEntry*> entries;
};
/// Returns the tensors of the state, sorted by name. The state must outlive the result.
std::vector<TensorGroup> tensors_by_name(const State& state);

/// Assigns each item to a writer and returns one writer per item. `load` has the bytes that each writer already writes.
/// The largest item goes first, to the writer with the lowest load (Graham, "Bounds on multiprocessing timing anomalies",
/// 1969). Ties are broken by index, so every rank computes the same result. Pure function.
std::vector<int> assign_writers(std::span<const std::uint64_t> item_bytes, const std::vector<std::uint64_t>& load);

/// Minimum size in bytes of a replicated tensor that may be divided between writers.
inline constexpr std::uint64_t splittable_bytes = std::uint64_t{4} << 20;

/// Returns the slab of `count` rows of a tensor, from row `first` on. Rows are counted along the first axis with an extent
/// that is not 1. The slab is contiguous in row-major memory. Pure function.
Slab rows_of(const Shape& shape, std::int64_t first, std::int64_t count, int writer);
/// Returns the number of such rows; 1 if all extents are 1.
std::int64_t row_count(const Shape& shape);

/// Returns the layout of a state. `held[rank][i]` has the slabs that a rank holds of the i-th sharded tensor, in name
/// order. If several ranks hold the same slab, the lowest rank writes it. Throws UsageError if slabs overlap otherwise or
/// leave a gap. Pure function.
Layout plan_layout(const State& state, const std::vector<std::vector<std::vector<Slab>>>& held,
                   std::vector<int> file_of_rank);

/// Computes a layout from one sharded tensor at a time, so that the slabs of all ranks need not be in memory at once.
class LayoutPlanner {
 public:
  /// If `own_file` is not negative, the layout keeps all slabs of sharded and per_rank tensors only up to `max_slabs`; of
  /// the tensors after that, it keeps the slabs in shard file `own_file`. This bounds its size for any number of ranks.
  LayoutPlanner(const State& state, std::vector<int> file_of_rank, int own_file = -1, std::size_t max_slabs = 0);
  /// Adds the next sharded tensor in name order. `held` has the slabs of all ranks. Throws the errors of plan_layout().
  void add(std::vector<Slab> held);
  /// Returns the layout, which is then moved out of the planner. All sharded tensors must have been added.
  Layout finish();

 private:
  void number_and_trim(TensorLayout& tensor);

  Layout layout_;
  int own_file_;
  std::size_t slabs_left_;            // slabs of other files that may still be kept
  std::vector<std::uint64_t> load_;   // bytes that each rank writes
  std::vector<std::size_t> sharded_;  // indices of the sharded tensors in the layout
  std::size_t next_ = 0;
};

std::string_view name_of(Placement placement);  ///< "replicated", "sharded", "per_rank"

/// Returns the shard file of each rank. Files are numbered from 0 without gaps, in the order of their lowest ranks.
/// `node_of_rank` has one number per rank; ranks of one node have the same number. Pure function.
std::vector<int> files_of_ranks(FileLayout layout, std::span<const int> node_of_rank);

}  // namespace trainrt::checkpoint
