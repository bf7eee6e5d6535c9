#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/order/permutation.hpp"

namespace trainrt::data {

/// One of the sources that a dataset mixes. Its samples have consecutive indices in the dataset.
struct MixedPart {
  std::uint64_t first = 0;  ///< index of the source's first sample in the dataset
  std::uint64_t size = 0;   ///< number of samples, > 0
  std::uint64_t share = 0;  ///< number of samples per epoch, > 0; if greater than `size`, samples are repeated
};

/// Divides an epoch among sources in proportion to their weights, by the method of largest remainders. The epoch has as
/// many samples as all sources together. Throws UsageError if the number of weights differs from the number of sizes, or
/// if a source has no samples or its share would be 0.
std::vector<MixedPart> mixed_parts(std::span<const std::uint64_t> sizes, std::span<const double> weights);

/// Parses weights such as "0.7, 0.3". Throws UsageError, which quotes the item, if an item is not a number above 0.
std::vector<double> weights_of(std::string_view text);

/// An order that mixes several sources. Each source fills its share of the positions of an epoch; new positions are drawn
/// for each epoch. A source continues where it ended in the previous epoch: all its samples are used once, in a shuffled
/// order, before any sample is used again. Pure; needs no memory per sample.
class MixedOrder {
 public:
  MixedOrder(std::vector<MixedPart> parts, std::uint64_t seed, std::uint64_t epoch);
  std::uint64_t operator[](std::uint64_t position) const;  ///< below the sum of the shares

 private:
  std::uint64_t sample_of(std::size_t part, std::uint64_t number) const;
  Permutation pass(std::size_t part, std::uint64_t number) const;

  /// The passes through one source that begin, end or continue in the epoch. A pass uses each sample of the source once.
  struct Passes {
    std::uint64_t first = 0;
    std::vector<Permutation> prepared;  ///< empty if there are more than max_prepared
  };
  std::vector<MixedPart> parts_;
  std::uint64_t seed_, epoch_;
  std::vector<std::uint64_t> ends_;  ///< for each source, the sum of the shares up to and including its own
  Shuffle slots_;
  std::vector<Passes> passes_;
};

}  // namespace trainrt::data
