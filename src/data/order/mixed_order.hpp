#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/order/permutation.hpp"
#include "data/order/shuffle.hpp"

namespace trainrt::data {

/// One of the sources that a dataset mixes: neighbours in its numbering.
struct MixedPart {
  std::uint64_t first = 0;  ///< number of its first sample
  std::uint64_t size = 0;   ///< > 0 samples
  std::uint64_t share = 0;  ///< > 0 samples of it in each epoch; more than `size`: they are repeated
};

/// The share of each source, so that an epoch has as many samples as all sources together: by the largest remainder.
/// UsageError if there are not as many weights as sizes, or if one is not positive, or leaves its source without a sample.
std::vector<MixedPart> mixed_parts(std::span<const std::uint64_t> sizes, std::span<const double> weights);

/// "0.7, 0.3" as numbers. UsageError that names what is none.
std::vector<double> weights_of(std::string_view text);

/// An order in which each source has its share of the epoch, in places that are shuffled for each epoch. A source is
/// walked through from epoch to epoch: each of its samples comes once, in a shuffled order, before any comes again. Pure; a
/// source takes no memory for its samples.
class MixedOrder {
 public:
  MixedOrder(std::vector<MixedPart> parts, std::uint64_t seed, std::uint64_t epoch);
  std::uint64_t operator[](std::uint64_t position) const;  ///< below the sum of the shares

 private:
  std::uint64_t sample_of(std::size_t part, std::uint64_t number) const;
  Permutation pass(std::size_t part, std::uint64_t number) const;

  /// The passes through one source that the epoch takes part in.
  struct Passes {
    std::uint64_t first = 0;
    std::vector<Permutation> prepared;  ///< empty if there are too many
  };
  std::vector<MixedPart> parts_;
  std::uint64_t seed_, epoch_;
  std::vector<std::uint64_t> ends_;  ///< of each source's slots
  Shuffle slots_;
  std::vector<Passes> passes_;
};

}  // namespace trainrt::data
