#pragma once
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "data/order/permutation.hpp"

namespace trainrt::data {

/// A shuffle of 0 .. size - 1. Pure; the same for all times and machines. A small one is a list: Fisher and Yates's
/// shuffle, in Durstenfeld's form (CACM 7, 1964), driven by Random(seed, 0). A larger one is computed number by number, and
/// takes neither memory nor time before the first.
class Shuffle {
 public:
  static constexpr std::uint64_t min_computed = std::uint64_t{1} << 20;
  Shuffle(std::uint64_t size, std::uint64_t seed);

  /// What the first versions did, whose runs go on as they began: a list, 4 bytes a number, up to min_legacy_computed.
  static Shuffle legacy(std::uint64_t size, std::uint64_t seed);
  static constexpr std::uint64_t min_legacy_computed = std::uint64_t{1} << 30;
  /// Bytes that legacy() takes.
  static std::uint64_t legacy_bytes(std::uint64_t size);

  std::uint64_t operator[](std::uint64_t number) const {  ///< number < size
    if (const auto* const listed = std::get_if<List>(&order_)) return (*listed)[number];
    return std::get<Permutation>(order_)[number];
  }
  /// What [] gives of `first` and the numbers behind it, in less time.
  void list(std::uint64_t first, std::span<std::uint64_t> into) const;

 private:
  using List = std::vector<std::uint32_t>;
  explicit Shuffle(std::variant<List, Permutation> order) : order_(std::move(order)) {}
  static List listed(std::uint64_t size, std::uint64_t seed);

  std::variant<List, Permutation> order_;
};

}  // namespace trainrt::data
