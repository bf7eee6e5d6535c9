#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace trainrt::data {

/// A shuffle of 0 .. size - 1 that computes each number independently. It is a Feistel network over the next power of 4
/// (Luby and Rackoff, SIAM J. Comput. 17, 1988), applied repeatedly until the result is below `size` (Black and
/// Rogaway, CT-RSA 2002). Pure: the same on every machine and in every version. For a small size it is not uniform;
/// Shuffle then uses a list instead.
class Permutation {
 public:
  Permutation() = default;
  /// Constructs a shuffle with 8 rounds of Philox, about one microsecond per number. Orders of existing runs use it, so
  /// it must never change.
  Permutation(std::uint64_t size, std::uint64_t seed) : Permutation(size, seed, false) {}
  /// Returns a shuffle with 12 rounds of two multiplications. It is faster, for orders that are computed sample by
  /// sample.
  static Permutation quick(std::uint64_t size, std::uint64_t seed) { return {size, seed, true}; }
  std::uint64_t size() const { return size_; }
  std::uint64_t operator[](std::uint64_t number) const;  ///< number < size()
  /// Replaces each number n by (*this)[n]. Faster than one call per number, because several numbers are computed in
  /// parallel.
  void map(std::span<std::uint64_t> numbers) const;

 private:
  Permutation(std::uint64_t size, std::uint64_t seed, bool is_quick);
  static constexpr int rounds = 8, quick_rounds = 12;
  static constexpr std::size_t lanes = 4;
  std::uint64_t permute(std::uint64_t number) const;
  std::uint64_t permute_quickly(std::uint64_t number) const;
  void permute_lanes(std::uint64_t* numbers) const;
  void permute_all(std::span<std::uint64_t> numbers) const;

  std::uint64_t size_ = 0;
  int half_bits_ = 1;
  bool is_quick_ = false;
  std::array<std::uint64_t, quick_rounds> keys_{};  ///< one per round
};

}  // namespace trainrt::data
