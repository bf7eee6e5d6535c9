#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <ranges>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <trainrt/export.hpp>
#include <trainrt/tensor.hpp>

// State lists the tensors, values and files that a checkpoint holds. A complete example, for a table sharded over the
// ranks, of which each rank holds 2 rows:
//
// ```cpp
// #include <trainrt/context.hpp>
//
// #include <vector>
//
// struct Training {
//   std::vector<float> weights = std::vector<float>(8 * 4);
//   std::vector<float> rows = std::vector<float>(2 * 4);
//   int epoch = 0;
//   double loss = 0;  // this rank's sum since the last report
// };
//
// void attach(trainrt::Context& ctx, Training& training) {
//   const int rank = ctx.world_rank(), ranks = ctx.world_size();
//   trainrt::State state;
//   state.tensor("model/weights", {training.weights.data(), trainrt::DType::f32, {8, 4}});  // the same on every rank
//   state.tensor("model/table", {training.rows.data(), trainrt::DType::f32, {2, 4}})
//       .sharded(0, 2 * rank, 2 * ranks);        // rows 2 * rank and 2 * rank + 1 of 2 * ranks
//   state.value("epoch", training.epoch);        // the same on every rank
//   state.value("loss", training.loss).part_of_sum();
//   ctx.restore(state);                          // `training` must live until the train function returns
// }
// ```

namespace trainrt {

/// How a tensor is distributed over the ranks.
enum class Placement : std::uint8_t {
  /// Every rank holds the same complete tensor. A new run starts with rank 0's values on all ranks. Each checkpoint
  /// compares the ranks' tensors and stores one of them.
  replicated,
  sharded,  ///< each rank holds slabs of one global tensor: blocks of contiguous indices
  /// Each rank holds its own tensor. If a checkpoint is loaded on another number of ranks, rank r loads the tensor of rank
  /// r modulo the number of ranks that saved the checkpoint.
  per_rank,
};

/// A tensor of a State: a view of this rank's part, with the position of the part in the global tensor.
struct TensorEntry {
  std::string name;
  TensorView local;  ///< this rank's part of the tensor, contiguous
  Placement placement = Placement::replicated;
  Shape global_shape;     ///< shape of the global tensor; equals local.shape unless sharded
  Shape offset;           ///< index in the global tensor at which this rank's part starts, per axis; zeros unless sharded
  bool optional = false;  ///< if a checkpoint lacks the tensor, loading leaves the tensor's memory unchanged
  bool one_of_several = false;  ///< the entry was added by State::slab()
  bool summed = false;          ///< the entry was declared by part_of_sum()
  /// If null, a save copies the tensor first. Otherwise, a save writes directly from the memory of `local`, which must be
  /// host memory; this pointer keeps the memory valid. The train function may then change the memory only in functions
  /// passed to State::before_save(). Loading a checkpoint changes the memory, too.
  std::shared_ptr<const void> steady = nullptr;

  /// Declares that this rank's part of the tensor is a slab of a global tensor. The slab starts at index `first` of axis
  /// `axis`; the global tensor has `global_extent` indices on this axis. Returns *this. Throws UsageError if the axis or
  /// the slab is out of range.
  TRAINRT_API TensorEntry& sharded(int axis, std::int64_t first, std::int64_t global_extent);
  /// Declares that each rank has its own tensor (Placement::per_rank). Returns *this. Throws UsageError for more than 31
  /// axes.
  TRAINRT_API TensorEntry& per_rank();
  /// Declares that each rank has its own tensor, and that only their sum over the ranks matters, such as losses since the
  /// last report. Returns *this.
  ///
  /// If a checkpoint is loaded on the number of ranks that saved it, each rank loads its own part of the sum. On another
  /// number of ranks, n, rank r loads the sum of the parts that ranks r, r + n, r + 2n, ... have saved, or zeros if these
  /// ranks did not exist. The sum over all ranks is therefore unchanged.
  ///
  /// Throws UsageError for types other than f64, f32, f16, bf16, i64 and i32.
  TRAINRT_API TensorEntry& part_of_sum();
};

/// A small value of a State: a number, bool or string. The value must be the same on every rank, which each save checks.
struct ValueEntry {
  std::string name;
  std::variant<std::int32_t*, std::int64_t*, double*, bool*, std::string*> value;
  bool optional = false;  ///< if a checkpoint lacks the value, loading leaves the variable unchanged
  bool summed = false;    ///< the entry was declared by part_of_sum()

  /// Declares that each rank has its own value, and that only the sum over the ranks matters, as
  /// TensorEntry::part_of_sum() does for a tensor. Checkpoints store the value as a scalar tensor (no axes). Returns *this.
  /// Throws UsageError for a bool or a string.
  TRAINRT_API ValueEntry& part_of_sum();
};

/// A user's file that every checkpoint holds as files/NAME, and that loading a checkpoint copies back to its path. Saving a
/// checkpoint fails if the file does not exist.
struct FileEntry {
  std::string name;        ///< name of the file: its path below files/ in the checkpoint
  std::string path;        ///< path of the user's file on this node
  bool each_rank = false;  ///< each rank has its own file; false: rank 0's file is saved, and loaded on every node
  bool optional = false;   ///< loading a checkpoint that lacks the file is not an error

  /// Declares that each rank has its own file, which is saved and loaded per rank. Returns *this.
  TRAINRT_API FileEntry& per_rank();
};

/// A list of named views of everything that a checkpoint holds: tensors, small values and files.
///
/// A State neither copies nor owns its data: the memory to which the entries refer must stay at its address until the
/// train function returns.
///
/// Names are UTF-8 paths such as "model/w". Names must be unique, no name may be a folder of another name, and the folder
/// "trainrt" is reserved.
///
/// Invalid names and shapes throw UsageError. Not thread-safe. No function is collective, but all ranks must add the same
/// entries to the State that they pass to Context::restore().
class TRAINRT_API State {
 public:
  /// Adds a tensor of at most 32 axes. The tensor is replicated (equal on all ranks), unless a function of the returned
  /// entry declares another placement.
  TensorEntry& tensor(std::string name, TensorView view);
  /// Adds one slab of a sharded tensor: `view` holds the indices from `offset` (inclusive) to `offset + view.shape`
  /// (exclusive) of a global tensor of shape `global_shape`.
  ///
  /// A rank may hold any number of slabs of a tensor: the rank calls slab() for each of them, with the same name, type
  /// and `global_shape`. A rank without a slab calls slab() once with an empty view. The slabs of all ranks must cover
  /// the tensor. Slabs must not overlap partially, but several ranks may hold the same slab. Throws UsageError if a slab
  /// is out of range.
  TensorEntry& slab(std::string name, TensorView view, Shape offset, Shape global_shape);
  /// Adds a contiguous range in host memory, such as a std::vector<float>, as a tensor of one axis.
  template <std::ranges::contiguous_range Range>
  TensorEntry& tensor(std::string name, Range&& values) {
    using T = std::ranges::range_value_t<Range>;
    auto count = static_cast<std::int64_t>(std::ranges::size(values));
    return tensor(std::move(name), TensorView{std::ranges::data(values), dtype_of<T>::value, {count}});
  }

  /// Adds a small value (number, bool or string), which must be the same on every rank.
  ValueEntry& value(std::string name, std::int32_t& v);
  ValueEntry& value(std::string name, std::int64_t& v);
  ValueEntry& value(std::string name, double& v);
  ValueEntry& value(std::string name, bool& v);
  ValueEntry& value(std::string name, std::string& v);

  /// Adds a user's file, which checkpoints store as files/`name`. Names of files may equal names of tensors and values, but
  /// must not begin with "rank-NUMBER".
  FileEntry& file(std::string name, std::string path);

  /// Adds a function that updates the memory and files of this State, for data that is kept elsewhere, such as in another
  /// process. The function is called on every rank, on the thread of the train function, before a checkpoint copies the
  /// State and before ranks compare their States. The function must not communicate. An exception that it throws fails the
  /// run.
  void before_save(std::function<void()> call);
  void bring_up_to_date() const;  ///< calls all functions that were passed to before_save(), in the same order

  const std::deque<TensorEntry>& tensors() const { return tensors_; }
  const std::deque<ValueEntry>& values() const { return values_; }
  const std::deque<FileEntry>& files() const { return files_; }
  bool empty() const { return tensors_.empty() && values_.empty() && files_.empty(); }

  /// Adds the entries of State `other` (the views, not the data) and its before_save() functions. Values that were declared
  /// by part_of_sum() are added as tensors without axes. Throws UsageError for names that exist already.
  void append(const State& other);

 private:
  void claim(const std::string& name);
  void claim_slab(const TensorEntry& entry);
  template <class T>
  ValueEntry& add_value(std::string name, T& v);
  void add_summed(const ValueEntry& entry);

  std::deque<TensorEntry> tensors_;
  std::deque<ValueEntry> values_;
  std::deque<FileEntry> files_;
  std::vector<std::function<void()>> before_save_;
  std::set<std::string> names_;
  std::set<std::string> file_names_;
  std::map<std::string, std::size_t> first_slab_;  // by tensor name: index in tensors_ of the tensor's first slab
};

}  // namespace trainrt
