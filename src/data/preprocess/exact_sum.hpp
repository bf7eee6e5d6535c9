#pragma once
#include <array>
#include <cstdint>
#include <span>

#include "data/bytes/coding/packed.hpp"

namespace trainrt::data {

/// The exact sum of f64 numbers or of their squares, in a fixed-point number that is wide enough for any of them: the same
/// whatever their order and however they are parted. (A superaccumulator: R. Neal, "Fast exact summation using small and
/// large superaccumulators", 2015.)
class ExactSum {
 public:
  void add(double value);         ///< finite
  void add_square(double value);  ///< finite
  /// Adds all values to `sum` and their squares to `squares`: finite ones, none larger than `largest` without its sign.
  static void add_moments(std::span<const double> values, double largest, ExactSum& sum, ExactSum& squares);
  void merge(const ExactSum& other);
  void write(PackedWriter& into) const;
  void merge(PackedReader& from);

  /// The mean, and the variance (of the whole, not of a sample), of `count` > 0 numbers: rounded once, to nearest even.
  static double mean(const ExactSum& sum, std::uint64_t count);
  static double variance(const ExactSum& sum, const ExactSum& squares, std::uint64_t count);

 private:
  static constexpr int first_bit = -2176;   ///< what bit 0 of the first chunk counts: 2^-2176; the least square is 2^-2148
  static constexpr std::size_t size = 137;  ///< the largest sum of 2^64 squares is below 2^2112
  static constexpr int bits = 32;           ///< of a chunk; the rest of its 64 takes what is carried later
  static constexpr std::uint32_t most = 1U << 30;  ///< numbers that are added before

  void add(std::uint64_t magnitude, int exponent, bool is_negative);
  struct Window;
  void carry();
  ExactSum carried() const;
  friend struct ExactSumValue;

  std::array<std::int64_t, size> chunks_{};
  std::uint32_t added_ = 0;
};

}  // namespace trainrt::data
