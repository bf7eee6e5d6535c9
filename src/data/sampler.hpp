#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <trainrt/dataset.hpp>

namespace trainrt::data {

/// The seed of an epoch's order.
std::uint64_t order_seed(std::uint64_t run_seed, std::string_view dataset, std::int64_t epoch);

/// The order in which an epoch visits the samples, the same on every rank. Pure; the same for all times and machines.
class EpochOrder {
 public:
  static EpochOrder identity(std::uint64_t size);
  /// Below `most_listed` samples Fisher and Yates's shuffle, in Durstenfeld's form (CACM 7, 1964), driven by Random(seed,
  /// 0): a list, 4 bytes a sample. From there on permuted(), for a list would take minutes in which the run cannot stop.
  static EpochOrder shuffled(std::uint64_t size, std::uint64_t seed);
  static constexpr std::uint64_t most_listed = std::uint64_t{1} << 30;
  /// A shuffle that is computed position by position and takes no memory: a Feistel network of 8 rounds over the next power
  /// of 4 (Luby and Rackoff, SIAM J. Comput. 17, 1988), walked along its cycles until a sample is met (Black and Rogaway,
  /// CT-RSA 2002).
  static EpochOrder permuted(std::uint64_t size, std::uint64_t seed);
  /// Bytes that shuffled() takes.
  static std::uint64_t bytes_of_shuffled(std::uint64_t size);

  std::uint64_t size() const { return size_; }
  /// The sample at a position; behind the end the order starts over (what Remainder::pad repeats). size() > 0.
  std::uint64_t operator[](std::uint64_t position) const {
    const auto wrapped = position % size_;
    if (half_bits_ > 0) return permute(wrapped);
    return samples_.empty() ? wrapped : samples_[wrapped];
  }

 private:
  std::uint64_t permute(std::uint64_t position) const;

  std::uint64_t size_ = 0;
  std::vector<std::uint32_t> samples_;  ///< only of a list
  int half_bits_ = 0;                   ///< of a permutation's numbers; 0: it is none
  std::array<std::uint64_t, 8> keys_{};
};

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
/// on there. What the ranks do not divide is split as evenly as possible, the first ranks taking one more.
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

  /// Global batches; of `uneven` the last one may leave some ranks without samples, as may any if there are more ranks
  /// than workers.
  std::uint64_t batch_count() const;
  /// Empty from batch_count() on.
  Slice global_batch(std::uint64_t k) const;
  Slice rank_part(std::uint64_t k, int rank) const;

 private:
  std::uint64_t start_;
  std::uint64_t end_;           ///< behind the last position; greater than the number of samples if padded
  std::uint64_t global_batch_;  ///< positions of a full global batch
  std::uint64_t ranks_;
};

}  // namespace trainrt::data
