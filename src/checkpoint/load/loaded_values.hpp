#pragma once
#include <cstddef>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include <trainrt/state.hpp>

#include "checkpoint/load/contents.hpp"
#include "checkpoint/load/read_plan.hpp"

namespace trainrt::checkpoint {

/// Holds the values that are read from a checkpoint (integers, reals, bools and strings) until install() writes them to the
/// State.
class LoadedValues {
 public:
  /// Adds the State's values `entries` to the read plan, which will read their bytes into this object. The entries and this
  /// object must outlive the execution of the plan.
  LoadedValues(const std::vector<const ValueEntry*>& entries, ReadPlan& plan);
  LoadedValues(const LoadedValues&) = delete;

  /// Converts the bytes read from the checkpoint to the types of the State's values; values that the checkpoint lacks are
  /// skipped. Throws UsageError if a number does not fit its type.
  void decode(const Contents& contents);
  /// Writes the values to the State, as decode() has converted them. Does not throw Error.
  void install() const;

 private:
  struct PendingValue {
    const ValueEntry* entry;
    std::string bytes;
  };
  std::deque<PendingValue> reads_;
  std::vector<std::function<void()>> installs_;
};

/// Restores summed tensors (TensorEntry::summed) from a checkpoint that was written by a different number of ranks. The
/// value of such a tensor is the sum of the parts that the ranks hold. Each rank reads the parts of several writing
/// ranks into separate memory, and install() writes their sum to the State.
class SummedParts {
 public:
  /// Adds to the read plan the parts of tensor `entry` that the ranks `rank`, `rank` + `size`, `rank` + 2 * `size` ...
  /// wrote. `saved_by` is the number of ranks that wrote the checkpoint, `size` the number of ranks now. `gpu` is the GPU
  /// that owns the tensor's memory, as returned by gpu_of(). The entry must outlive this object.
  void want(ReadPlan& plan, const TensorEntry& entry, int gpu, int rank, int size, int saved_by);

  /// Computes the sums and writes them to the tensors. The parts are added in the order of the binary tree over rank
  /// numbers, so the result is deterministic. Tensors that the checkpoint lacks are not changed.
  void install(const Contents& contents) const;

 private:
  struct PendingSum {
    const TensorEntry* entry;
    int gpu;
    std::vector<std::vector<std::byte>> parts;
  };
  static std::vector<std::byte> total(const PendingSum& sum);

  std::deque<PendingSum> sums_;
};

}  // namespace trainrt::checkpoint
