#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace trainrt::data {

/// A shuffle of 0 .. size - 1 that is computed number by number and takes no memory: a Feistel network over the next power
/// of 4 (Luby and Rackoff, SIAM J. Comput. 17, 1988), walked along its cycles until a number below `size` is met (Black and
/// Rogaway, CT-RSA 2002). Pure; the same for all times and machines. Not uniform for a small size: there a list is.
class Permutation {
 public:
  Permutation() = default;
  /// 8 rounds of Philox: about a microsecond a number. The orders of runs hang on it: it never changes.
  Permutation(std::uint64_t size, std::uint64_t seed);
  /// 12 rounds of two multiplications: for orders that are computed sample by sample.
  static Permutation quick(std::uint64_t size, std::uint64_t seed);
  std::uint64_t size() const { return size_; }
  std::uint64_t operator[](std::uint64_t number) const;  ///< number < size()
  /// Puts for each of the numbers what [] gives: several at once, in a fraction of the time.
  void map(std::span<std::uint64_t> numbers) const;

 private:
  static constexpr int rounds = 8, quick_rounds = 12;
  static constexpr std::size_t lanes = 4;
  std::uint64_t permute(std::uint64_t number) const;
  std::uint64_t permute_quickly(std::uint64_t number) const;
  void permute_lanes(std::uint64_t* numbers) const;
  void permute_all(std::span<std::uint64_t> numbers) const;

  std::uint64_t size_ = 0;
  int half_bits_ = 1;
  bool is_quick_ = false;
  std::array<std::uint64_t, quick_rounds> keys_{};  ///< of the rounds; rounds of them if it is not quick
};

}  // namespace trainrt::data
