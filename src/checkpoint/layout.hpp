#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <trainrt/checkpoint_store.hpp>
#include <trainrt/state.hpp>

namespace trainrt::checkpoint {

/// A rectangular part of a tensor, and the rank that writes it to the checkpoint.
struct Slab {
  Shape offset;
  Shape shape;
  int writer = 0;
  std::size_t number = 0;  ///< index of this slab among all slabs of its tensor, set by LayoutPlanner
};

/// The slabs that one tensor is stored as, depending on its placement:
/// - replicated: slabs in row-major order that tile the tensor; a small tensor has one slab
/// - sharded: slabs that tile the tensor
/// - per_rank: one slab per rank, in rank order
/// An incomplete Layout lists only some of these slabs.
struct TensorLayout {
  std::string name;
  DType dtype = DType::f32;
  Placement placement = Placement::replicated;
  Shape global_shape;
  std::vector<Slab> slabs;

  bool is_undivided() const { return placement == Placement::replicated && slabs.size() == 1; }
};

/// Assignment of slabs to the ranks that write them, and of ranks to the shard files of a checkpoint. All ranks compute the
/// same assignment, but an incomplete Layout lists only some slabs.
struct Layout {
  int ranks = 0;
  bool complete = true;               ///< false if slabs that are stored in other ranks' shard files are left out
  std::vector<int> file_of_rank;      ///< the number of the shard file that each rank writes to, from 0
  std::vector<TensorLayout> tensors;  ///< layouts of all tensors, sorted by name

  int files() const;  ///< Returns the number of shard files.
  int file_of(int rank) const { return file_of_rank[static_cast<std::size_t>(rank)]; }
  int values_writer() const { return 0; }  ///< Returns the rank that writes all values (the entries that are not tensors).
};

/// All entries of a State with the same name: one entry, or several slabs of one sharded tensor.
struct TensorGroup {
  const TensorEntry* first = nullptr;
  std::vector<const TensorEntry*> entries;
};
/// Returns the tensors of `state` grouped and sorted by name. The result points into `state`, which must outlive it.
std::vector<TensorGroup> tensors_by_name(const State& state);

/// Assigns each item (a tensor to be written) to a writing rank, and returns one rank per item. `item_bytes` has the size
/// of each item, `load` the bytes that each rank already writes.
///
/// Greedy algorithm: the largest item comes first and is given to the rank with the lowest load (Graham, "Bounds on
/// multiprocessing timing anomalies", 1969). Ties are broken by index, so every rank computes the same result. Pure
/// function.
std::vector<int> assign_writers(std::span<const std::uint64_t> item_bytes, const std::vector<std::uint64_t>& load);

/// Minimum size in bytes of a replicated tensor that may be divided between several writing ranks.
inline constexpr std::uint64_t splittable_bytes = std::uint64_t{4} << 20;

/// Returns the slab that consists of `count` rows of a tensor of shape `shape`, from row `first` on. Rows are counted along
/// the first axis with an extent other than 1, so the slab is contiguous in row-major memory. Pure function.
Slab rows_of(const Shape& shape, std::int64_t first, std::int64_t count, int writer);
/// Returns the number of rows of a tensor: its extent along the first axis with an extent other than 1; 1 if there is no
/// such axis.
std::int64_t row_count(const Shape& shape);

/// Computes the checkpoint layout of a State from the slabs of all ranks. `held[rank][i]` has the slabs that a rank holds
/// of the i-th sharded tensor, in name order. If several ranks hold the same slab, the lowest rank writes it. Throws
/// UsageError if slabs overlap in any other way or do not cover the tensor. Pure function.
Layout plan_layout(const State& state, const std::vector<std::vector<std::vector<Slab>>>& held,
                   std::vector<int> file_of_rank);

/// Computes a checkpoint layout like plan_layout(), but from one sharded tensor at a time, so that the slabs of all ranks
/// need not be in memory at once.
class LayoutPlanner {
 public:
  /// `own_file`: number of this rank's shard file, or -1 for a complete layout. If it is not negative, the layout lists
  /// all slabs of each tensor only until it has `max_slabs` slabs. After that, it lists only the slabs of sharded and
  /// per_rank tensors that are stored in shard file `own_file`. This limits the memory for any number of ranks.
  LayoutPlanner(const State& state, std::vector<int> file_of_rank, int own_file = -1, std::size_t max_slabs = 0);
  /// Adds the next sharded tensor, in name order. `held` has the slabs of that tensor on all ranks. Throws UsageError as
  /// plan_layout() does.
  void add(std::vector<Slab> held);
  /// Returns the finished layout and leaves the planner empty. Must be called once, after add() was called for every
  /// sharded tensor.
  Layout finish();

 private:
  void number_and_trim(TensorLayout& tensor);

  Layout layout_;
  int own_file_;
  std::size_t slabs_left_;            // number of slabs that may still be listed, in whichever shard file
  std::vector<std::uint64_t> load_;   // bytes that each rank writes so far
  std::vector<std::size_t> sharded_;  // indices of the sharded tensors in layout_.tensors
  std::size_t next_ = 0;
};

std::string_view name_of(Placement placement);  ///< Returns "replicated", "sharded" or "per_rank".

/// Returns for each rank the number of the shard file that it writes to. Files are numbered from 0 without gaps, in the
/// order of their lowest ranks. `node_of_rank` has one number per rank; ranks on the same node have the same number. Pure
/// function.
std::vector<int> files_of_ranks(FileLayout layout, std::span<const int> node_of_rank);

}  // namespace trainrt::checkpoint
