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

/// Values on their way from a checkpoint into a state, which does not see them before install().
class LoadedValues {
 public:
  /// The plan reads into this, which must stay where it is.
  LoadedValues(const std::vector<const ValueEntry*>& entries, ReadPlan& plan);
  LoadedValues(const LoadedValues&) = delete;

  /// Turns what was read into values of the state's types; those that the checkpoint lacks are left out. UsageError if
  /// one does not fit.
  void decode(const Contents& contents);
  void install() const;

 private:
  struct Read {
    const ValueEntry* entry;
    std::string bytes;
  };
  std::deque<Read> reads_;
  std::vector<std::function<void()>> installs_;
};

/// Tensors that are parts of a sum (TensorEntry::part_of_sum()), on their way from a checkpoint of other ranks: what
/// several ranks wrote is read beside the tensor, and added up when all of it is there and found good.
class SummedParts {
 public:
  /// Wants the parts of ranks `rank`, `rank` + `size`, ... of `saved_by`. The entry must outlive this object; `gpu` is
  /// whose memory it lies in, -1 the host's.
  void want(ReadPlan& plan, const TensorEntry& entry, int gpu, int rank, int size, int saved_by);

  /// Puts the sums, along the tree over rank numbers, into the tensors that the checkpoint holds; the others stay.
  void install(const Contents& contents) const;

 private:
  struct Sum {
    const TensorEntry* entry;
    int gpu;
    std::vector<std::vector<std::byte>> parts;
  };
  static std::vector<std::byte> total(const Sum& sum);

  std::deque<Sum> sums_;
};

}  // namespace trainrt::checkpoint
