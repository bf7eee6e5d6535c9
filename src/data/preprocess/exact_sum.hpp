#pragma once
#include <array>
#include <cstdint>
#include <span>

#include "data/bytes/coding/packed.hpp"

namespace trainrt::data {

/// The exact sum of f64 numbers or of their squares. It is stored as a fixed-point number that is wide enough for any
/// f64 (a superaccumulator: R. Neal, "Fast exact summation using small and large superaccumulators", 2015). The sum
/// does not depend on the order of the numbers, or on how they are divided among threads.
class ExactSum {
 public:
  /// add() adds a finite number, and add_square() adds the square of a finite number.
  void add(double value);
  void add_square(double value);
  /// Adds all values to `sum` and their squares to `squares`. `max_magnitude` is the maximum absolute value; all values
  /// must be finite.
  static void add_moments(std::span<const double> values, double max_magnitude, ExactSum& sum, ExactSum& squares);
  void merge(const ExactSum& other);
  /// write() appends this sum to `into`. merge() adds a sum that write() has written.
  void write(PackedWriter& into) const;
  void merge(PackedReader& from);

  /// mean() and variance() return the mean and the population variance of `count` > 0 numbers. The exact result is
  /// rounded once, to nearest, ties to even.
  static double mean(const ExactSum& sum, std::uint64_t count);
  static double variance(const ExactSum& sum, const ExactSum& squares, std::uint64_t count);

 private:
  static constexpr int first_bit = -2176;   ///< bit 0 of the first chunk is 2^-2176; the smallest square is 2^-2148
  static constexpr std::size_t size = 137;  ///< number of chunks; the maximum sum of 2^64 squares is below 2^2112
  static constexpr int bits = 32;           ///< bits of a chunk; its upper 32 bits take carries
  static constexpr std::uint32_t max_added = 1U << 30;  ///< maximum of numbers that are added between two carries

  void add(std::uint64_t magnitude, int exponent, bool is_negative);
  struct Window;
  void carry();
  ExactSum carried() const;
  friend struct ExactSumValue;

  std::array<std::int64_t, size> chunks_{};
  std::uint32_t added_ = 0;
};

}  // namespace trainrt::data
