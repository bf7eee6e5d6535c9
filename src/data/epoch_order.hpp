#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <variant>
#include <vector>

#include "data/block_order.hpp"
#include "data/permutation.hpp"

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
  /// Permutation of all samples.
  static EpochOrder permuted(std::uint64_t size, std::uint64_t seed);
  /// BlockOrder.
  static EpochOrder in_blocks(std::uint64_t size, std::uint64_t seed, Blocks blocks);
  /// Bytes that shuffled() takes.
  static std::uint64_t bytes_of_shuffled(std::uint64_t size);

  std::uint64_t size() const { return size_; }
  /// The sample at a position; behind the end the order starts over (what Remainder::pad repeats). size() > 0.
  std::uint64_t operator[](std::uint64_t position) const {
    const auto wrapped = position % size_;
    if (const auto* const listed = std::get_if<List>(&order_)) return (*listed)[wrapped];
    if (const auto* const computed = std::get_if<Permutation>(&order_)) return (*computed)[wrapped];
    if (const auto* const blocks = std::get_if<BlockOrder>(&order_)) return (*blocks)[wrapped];
    return wrapped;
  }

 private:
  using List = std::vector<std::uint32_t>;
  std::uint64_t size_ = 0;
  std::variant<std::monostate, List, Permutation, BlockOrder> order_;
};

}  // namespace trainrt::data
