#pragma once
#include <cstdint>

#include <trainrt/dataset.hpp>

namespace trainrt::data {

/// `count` positions of the order from `first` on.
struct Slice {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  bool operator==(const Slice&) const = default;
};

/// Cuts the positions from `start` on into global batches, and those into the ranks' parts. Pure.
///
/// Global batch k is the next batch_size * workers positions, whoever asks; each rank takes a contiguous part of it, in the
/// order of the ranks. So what has been visited after a batch is a prefix of the order, and another number of ranks can go
/// on there. What the ranks do not divide is split as evenly as possible, the first ranks taking one more; of
/// `whole` each rank takes a whole batch as long as there is one, whatever `workers` says.
class BatchPlan {
 public:
  /// What a global batch is, and who shares it.
  struct Split {
    std::uint64_t batch_size = 1;  ///< > 0 samples a worker
    int ranks = 1;                 ///< > 0, that are there
    int workers = 0;               ///< that the global batch is made for; 0: as many as ranks
  };
  /// The global batches are the same for any number of ranks, if `workers` is.
  BatchPlan(std::uint64_t samples, std::uint64_t start, Split split, Remainder remainder);
  BatchPlan(std::uint64_t samples, std::uint64_t start, std::uint64_t batch_size, int ranks, Remainder remainder)
      : BatchPlan(samples, start, Split{batch_size, ranks}, remainder) {}

  /// Global batches; of `uneven` and `whole` the last one may leave some ranks without samples, as may any if there are
  /// more ranks than workers.
  std::uint64_t batch_count() const;
  /// Empty from batch_count() on.
  Slice global_batch(std::uint64_t k) const;
  Slice rank_part(std::uint64_t k, int rank) const;

 private:
  std::uint64_t start_;
  std::uint64_t end_;           ///< behind the last position; greater than the number of samples if padded
  std::uint64_t global_batch_;  ///< positions of a full global batch
  std::uint64_t ranks_;
  std::uint64_t whole_batch_;  ///< of `whole`: the size of a batch; else 0
};

}  // namespace trainrt::data
