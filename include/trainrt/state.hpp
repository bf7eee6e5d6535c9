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

namespace trainrt {

/// How a tensor lies over the ranks.
enum class Placement : std::uint8_t {
  replicated,  ///< every rank holds the same whole tensor: at first rank 0's, compared at checkpoints; written once
  sharded,     ///< this rank holds a slab of a global tensor
  per_rank,  ///< every rank holds a tensor of its own; on another rank count rank r gets the one of r modulo the old count
};

/// One tensor of a State, or one slab of several: a view of this rank's part and where that part lies in the whole.
struct TensorEntry {
  std::string name;
  TensorView local;  ///< this rank's part, contiguous
  Placement placement = Placement::replicated;
  Shape global_shape;           ///< of the whole tensor; equals local.shape unless sharded
  Shape offset;                 ///< of the slab in the whole, one index an axis; zeros unless sharded
  bool optional = false;        ///< restore leaves it as it is when the checkpoint lacks it
  bool one_of_several = false;  ///< made by State::slab()
  bool summed = false;          ///< made by part_of_sum()
  /// If not null: `local` is host memory that changes only in restores and in what State::before_save() calls, and is there
  /// as long as this is held. A checkpoint is then written from where it lies; a copy of it is not needed.
  std::shared_ptr<const void> steady = nullptr;

  /// Declares the local part as a slab along `axis`, starting at `first`, of a tensor with `global_extent` there.
  TRAINRT_API TensorEntry& sharded(int axis, std::int64_t first, std::int64_t global_extent);
  TRAINRT_API TensorEntry& per_rank();
  /// per_rank, and it is this rank's part of a sum over the ranks (of losses since the last report, say). A checkpoint of
  /// as many ranks gives every rank its own part back. On n other ranks, rank r gets the sum of the parts of ranks r,
  /// r + n, ..., zeros if there are none: the sum over the ranks stays. UsageError for types that are not summed
  /// (Communicator::all_reduce() names those that are).
  TRAINRT_API TensorEntry& part_of_sum();
};

/// One small value of a State; the same on every rank (checked when it is saved).
struct ValueEntry {
  std::string name;
  std::variant<std::int32_t*, std::int64_t*, double*, bool*, std::string*> value;
  bool optional = false;
  bool summed = false;  ///< made by part_of_sum()

  /// This rank's part of a sum over the ranks, as TensorEntry::part_of_sum(): a checkpoint holds it as a tensor without
  /// axes. UsageError for a bool or a string.
  TRAINRT_API ValueEntry& part_of_sum();
};

/// A file of the user's that goes into every checkpoint (files/NAME) and that a restore puts back at its path. It is read
/// when a checkpoint is taken, which is an error if it is not there.
struct FileEntry {
  std::string name;        ///< in the checkpoint, a path below files/
  std::string path;        ///< on this node
  bool each_rank = false;  ///< every rank has one of its own; else rank 0's is kept, and every node gets that one
  bool optional = false;   ///< a checkpoint without it restores all the same

  TRAINRT_API FileEntry& per_rank();
};

/// Named views of everything a checkpoint holds. It never copies or owns: what it refers to must stay where it is until
/// the train function returns. Names are paths of UTF-8 ("model/w"); two names may not be equal, nor one a folder of the
/// other; "trainrt" is the runtime's own folder. Bad names throw UsageError.
class TRAINRT_API State {
 public:
  TensorEntry& tensor(std::string name, TensorView view);
  /// One slab of a sharded tensor, anywhere in it: [offset, offset + view.shape). A rank may hold any number of slabs of a
  /// tensor, each by a call of its own with the same name, dtype and global_shape; a rank that holds none calls it once
  /// with an empty one. The slabs of all ranks tile the tensor; equal ones may be held by several ranks.
  TensorEntry& slab(std::string name, TensorView view, Shape offset, Shape global_shape);
  template <std::ranges::contiguous_range Range>
  TensorEntry& tensor(std::string name, Range&& values) {
    using T = std::ranges::range_value_t<Range>;
    auto count = static_cast<std::int64_t>(std::ranges::size(values));
    return tensor(std::move(name), TensorView{std::ranges::data(values), dtype_of<T>::value, {count}});
  }

  ValueEntry& value(std::string name, std::int32_t& v);
  ValueEntry& value(std::string name, std::int64_t& v);
  ValueEntry& value(std::string name, double& v);
  ValueEntry& value(std::string name, bool& v);
  ValueEntry& value(std::string name, std::string& v);

  /// A file of the user's; names of files stand apart from those of tensors and values, and do not begin with
  /// "rank-NUMBER".
  FileEntry& file(std::string name, std::string path);

  /// Called each time before a checkpoint takes (or the ranks compare) what this State refers to, on every rank and on the
  /// train thread: brings up to date what is kept elsewhere (in another process, or in memory that a file() is written
  /// from). It must not communicate; what it throws fails the run.
  void before_save(std::function<void()> call);
  void bring_up_to_date() const;  ///< makes these calls, in their order

  const std::deque<TensorEntry>& tensors() const { return tensors_; }
  const std::deque<ValueEntry>& values() const { return values_; }
  const std::deque<FileEntry>& files() const { return files_; }
  bool empty() const { return tensors_.empty() && values_.empty() && files_.empty(); }

  /// Adds the entries of another State (the views, not the data), and its calls before a save; values that are parts of a
  /// sum as tensors without axes.
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
  std::map<std::string, std::size_t> first_slab_;  // of tensors made by slab(): which entry is their first
};

}  // namespace trainrt
