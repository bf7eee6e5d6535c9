#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <variant>
#include <vector>

namespace trainrt::data {

/// A shuffle of the numbers 0 to size - 1 that computes each number independently, so that no list is needed. Uses a
/// Feistel network (Luby and Rackoff, SIAM J. Comput. 17, 1988), which permutes the numbers up to the next power of 4. The
/// network is applied repeatedly until the result is below `size` (Black and Rogaway, CT-RSA 2002).
///
/// Pure: the same on every machine and in every version. For a small size, not all orders are equally probable; Shuffle
/// then uses a list instead.
class Permutation {
 public:
  Permutation() = default;
  /// Constructs a shuffle with 8 rounds of Philox, which takes about one microsecond per number. The orders of existing
  /// runs use this shuffle, so it must never change.
  Permutation(std::uint64_t size, std::uint64_t seed) : Permutation(size, seed, false) {}
  /// Returns a faster shuffle, with 12 rounds of two multiplications each, for orders that are computed sample by sample.
  static Permutation quick(std::uint64_t size, std::uint64_t seed) { return {size, seed, true}; }
  std::uint64_t size() const { return size_; }
  std::uint64_t operator[](std::uint64_t number) const;  ///< number < size()
  /// Replaces each number n by (*this)[n]. Faster than one call per number, because several numbers are computed in
  /// parallel.
  void map(std::span<std::uint64_t> numbers) const;

 private:
  Permutation(std::uint64_t size, std::uint64_t seed, bool is_quick);
  static constexpr int rounds = 8, quick_rounds = 12;
  std::uint64_t permute(std::uint64_t number) const;
  template <std::size_t lanes>
  void permute_quickly(std::uint64_t* numbers) const;
  void permute_all(std::span<std::uint64_t> numbers) const;

  std::uint64_t size_ = 0;
  int half_bits_ = 1;
  bool is_quick_ = false;
  std::array<std::uint64_t, quick_rounds> keys_{};  ///< one key per round
};

/// A shuffle of the numbers 0 to size - 1. Pure: the same on every machine and in every version. With fewer than
/// `min_computed` numbers, stores a list, made by Fisher and Yates's shuffle in Durstenfeld's form (CACM 7, 1964) with
/// Random(seed, 0). A larger shuffle computes each number when it is requested, and needs neither memory nor preparation.
class Shuffle {
 public:
  static constexpr std::uint64_t min_computed = std::uint64_t{1} << 20;
  Shuffle(std::uint64_t size, std::uint64_t seed);

  /// Returns the shuffle of the first trainrt versions, for runs that began with one of these versions. With fewer than
  /// `min_legacy_computed` numbers, stores a list of 4 bytes per number.
  static Shuffle legacy(std::uint64_t size, std::uint64_t seed);
  static constexpr std::uint64_t min_legacy_computed = std::uint64_t{1} << 30;
  /// Returns the number of bytes that legacy() needs.
  static std::uint64_t legacy_bytes(std::uint64_t size) {
    return size < min_legacy_computed ? size * sizeof(std::uint32_t) : 0;
  }

  std::uint64_t operator[](std::uint64_t number) const {  ///< number < size
    if (const auto* const listed = std::get_if<List>(&order_)) return (*listed)[number];
    return std::get<Permutation>(order_)[number];
  }
  /// Fills `into` with the results for the numbers from `first` on. Faster than one call per number.
  void list(std::uint64_t first, std::span<std::uint64_t> into) const;

 private:
  using List = std::vector<std::uint32_t>;
  explicit Shuffle(std::variant<List, Permutation> order) : order_(std::move(order)) {}
  static List listed(std::uint64_t size, std::uint64_t seed);

  std::variant<List, Permutation> order_;
};

}  // namespace trainrt::data
