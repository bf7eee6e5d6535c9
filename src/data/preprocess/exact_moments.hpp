#pragma once
#include <bit>
#include <cstdint>
#include <vector>

#include "data/bytes/coding/packed.hpp"

namespace trainrt::data {

/// The exact sum of f64 numbers, and the exact sum of their squares. Each sum is stored as one integer per exponent of
/// f64 (a superaccumulator: R. Neal, "Fast exact summation using small and large superaccumulators", 2015). The sums do
/// not depend on the order of the numbers, or on how they are divided among threads. At most 2^63 numbers may be added.
class ExactMoments {
 public:
  /// Adds a number. The sums are valid only if all numbers are finite.
  void add(double value) {
    constexpr int mantissa_bits = 52;
    constexpr auto hidden_bit = std::uint64_t{1} << mantissa_bits;
    const auto pattern = std::bit_cast<std::uint64_t>(value);
    const auto exponent = pattern >> mantissa_bits & 0x7ff;
    const auto mantissa = (pattern & (hidden_bit - 1)) | (exponent == 0 ? 0 : hidden_bit);
    auto& sums =
        sums_[exponent == 0 ? 0 : exponent - 1];  // subnormal numbers have the exponent of the smallest normal ones
    const auto sign = -static_cast<std::int64_t>(pattern >> 63);  // (m ^ -1) + 1 == -m, without a branch
    sums.values += (static_cast<std::int64_t>(mantissa) ^ sign) - sign;
    sums.add_squares(static_cast<Bits128>(mantissa) * mantissa);
  }
  /// write() appends the sums to `into`. merge() adds sums that write() has written.
  void write(PackedWriter& into) const;
  void merge(PackedReader& from);

  /// mean() and variance() return the mean and the population variance of all numbers that were added. `count` must be the
  /// number of these numbers, and not 0. The exact result is rounded once, to nearest, ties to even.
  double mean(std::uint64_t count) const;
  double variance(std::uint64_t count) const;

 private:
  __extension__ using Bits128 = unsigned __int128;
  /// The sum of the numbers of one exponent, in units of u = 2^(exponent - 1074), and the sum of their squares, in units
  /// of u^2.
  struct Sums {
    __extension__ __int128 values = 0;
    Bits128 squares = 0;
    std::uint64_t carries = 0;  ///< multiples of 2^128 in the sum of the squares

    void add_squares(Bits128 number) {
      squares += number;
      carries += squares < number ? 1 : 0;
    }
  };
  static constexpr std::size_t exponents = 2046;
  std::vector<Sums> sums_ = std::vector<Sums>(exponents + 1);  ///< for each exponent; the last one is that of infinity
};

}  // namespace trainrt::data
