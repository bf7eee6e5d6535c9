#pragma once
#include <algorithm>
#include <cstdint>
#include <utility>

#include <trainrt/dataset.hpp>

namespace trainrt::data {

/// The positions `first` to `first + count - 1` of the order in which an epoch visits the samples.
struct Slice {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  bool operator==(const Slice&) const = default;
};

/// Divides the items 0 to `count` - 1 into `parts` consecutive shares, as evenly as possible; the first shares may have one
/// item more. Returns the begin and the end (exclusive) of share number `at`.
inline std::pair<std::uint64_t, std::uint64_t> share_of(std::uint64_t count, int at, int parts) {
  const auto shares = static_cast<std::uint64_t>(parts), number = static_cast<std::uint64_t>(at);
  const auto each = count / shares, more = count % shares;
  const auto first = number * each + std::min(number, more);
  return {first, first + each + (number < more ? 1 : 0)};
}

/// Divides the positions of an epoch from `start` on into global batches, and each global batch into the parts of the
/// ranks. Pure.
///
/// Each global batch has the next batch_size * workers positions. Each rank gets a contiguous part of the batch, in the
/// order of the ranks. After each batch, the positions visited so far are therefore a prefix of the order, and any number
/// of ranks can continue from there. If a global batch cannot be divided evenly, the first ranks get one position more.
///
/// With `Remainder::whole`, `workers` is ignored, and a global batch has one complete batch of `batch_size` samples for
/// each rank. Only in the last global batch, a rank may have fewer samples or none.
class BatchPlan {
 public:
  /// The size of a global batch, and the ranks that share it.
  struct Split {
    std::uint64_t batch_size = 1;  ///< samples per worker, > 0
    int ranks = 1;                 ///< number of ranks, > 0
    int workers = 0;               ///< number of parts of batch_size samples in a global batch; 0: the same as `ranks`
  };
  /// `samples` is the size of the epoch. The global batches do not depend on split.ranks if split.workers is not 0.
  BatchPlan(std::uint64_t samples, std::uint64_t start, Split split, Remainder remainder);
  BatchPlan(std::uint64_t samples, std::uint64_t start, std::uint64_t batch_size, int ranks, Remainder remainder)
      : BatchPlan(samples, start, Split{batch_size, ranks}, remainder) {}

  /// Returns the number of global batches. With Remainder::uneven or Remainder::whole, some ranks may have no samples
  /// in the last batch. If there are more ranks than workers, the additional ranks have no samples in any batch.
  std::uint64_t batch_count() const;
  /// Returns global batch `k`. Returns an empty slice if `k` is batch_count() or more.
  Slice global_batch(std::uint64_t k) const;
  Slice rank_part(std::uint64_t k, int rank) const;

 private:
  std::uint64_t start_;
  std::uint64_t end_;  ///< one after the last position; with Remainder::pad, may be greater than the number of samples
  std::uint64_t global_batch_;  ///< number of positions of a full global batch
  int ranks_;
  std::uint64_t whole_batch_;  ///< batch size of `Remainder::whole`; otherwise 0
};

}  // namespace trainrt::data
