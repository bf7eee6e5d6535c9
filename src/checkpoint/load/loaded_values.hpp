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

/// Holds values read from a checkpoint until install() writes them to the state.
class LoadedValues {
 public:
  /// Adds the values of `entries` to the plan, which reads into this object. Entries and this object must outlive the
  /// reading.
  LoadedValues(const std::vector<const ValueEntry*>& entries, ReadPlan& plan);
  LoadedValues(const LoadedValues&) = delete;

  /// Converts the bytes that were read to the types of the state; entries that the checkpoint lacks are skipped. Throws
  /// UsageError if a number does not fit its type.
  void decode(const Contents& contents);
  /// Writes the values to the state. Does not throw Error.
  void install() const;

 private:
  struct PendingValue {
    const ValueEntry* entry;
    std::string bytes;
  };
  std::deque<PendingValue> reads_;
  std::vector<std::function<void()>> installs_;
};

/// Restores tensors that are parts of a sum (TensorEntry::summed) from a checkpoint that was written by another number of
/// ranks. Each rank reads the parts of several writers into separate memory, and install() adds them.
class SummedParts {
 public:
  /// Adds the parts written by ranks `rank`, `rank` + `size`, ... below `saved_by` to the plan. The entry must outlive this
  /// object; `gpu` is gpu_of() the entry.
  void want(ReadPlan& plan, const TensorEntry& entry, int gpu, int rank, int size, int saved_by);

  /// Adds the parts in the order of the tree over rank numbers and writes the sums to the tensors. Tensors that the
  /// checkpoint lacks are not changed.
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
