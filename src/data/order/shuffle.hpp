#pragma once
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "data/order/permutation.hpp"

namespace trainrt::data {

/// A shuffle of 0 .. size - 1. Pure: the same on every machine and in every version. Below `min_computed` numbers it is
/// a list, made by Fisher and Yates's shuffle in Durstenfeld's form (CACM 7, 1964) with Random(seed, 0). A larger
/// shuffle computes each number when it is requested, and needs neither memory nor preparation.
class Shuffle {
 public:
  static constexpr std::uint64_t min_computed = std::uint64_t{1} << 20;
  Shuffle(std::uint64_t size, std::uint64_t seed);

  /// Returns the shuffle of the first trainrt versions, for runs that began with one of them. Below
  /// `min_legacy_computed` numbers it is a list of 4 bytes per number.
  static Shuffle legacy(std::uint64_t size, std::uint64_t seed);
  static constexpr std::uint64_t min_legacy_computed = std::uint64_t{1} << 30;
  /// Returns the number of bytes that legacy() needs.
  static std::uint64_t legacy_bytes(std::uint64_t size);

  std::uint64_t operator[](std::uint64_t number) const {  ///< number < size
    if (const auto* const listed = std::get_if<List>(&order_)) return (*listed)[number];
    return std::get<Permutation>(order_)[number];
  }
  /// Sets `into` to the results for `first` and the numbers after it. Faster than one call per number.
  void list(std::uint64_t first, std::span<std::uint64_t> into) const;

 private:
  using List = std::vector<std::uint32_t>;
  explicit Shuffle(std::variant<List, Permutation> order) : order_(std::move(order)) {}
  static List listed(std::uint64_t size, std::uint64_t seed);

  std::variant<List, Permutation> order_;
};

}  // namespace trainrt::data
