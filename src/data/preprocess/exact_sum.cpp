#include "data/preprocess/exact_sum.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include <boost/multiprecision/cpp_int.hpp>

namespace trainrt::data {

namespace {

using boost::multiprecision::cpp_int;
__extension__ using Bits128 = unsigned __int128;

constexpr int mantissa_bits = 52;
constexpr int half_bits = mantissa_bits + 1;  ///< bits of each half of a square, which is stored as two halves
constexpr std::uint64_t half_mask = (std::uint64_t{1} << half_bits) - 1;
constexpr int min_exponent = -1074;
constexpr int exponent_bias = 1075;  ///< exponent bias of f64 if the mantissa is interpreted as an integer

struct Parts {
  std::uint64_t mantissa;
  int exponent;
  bool is_negative;
};

Parts parts_of(double value) {
  const auto pattern = std::bit_cast<std::uint64_t>(value);
  const auto exponent_bits = static_cast<int>((pattern >> mantissa_bits) & 0x7ff);
  const auto fraction = pattern & ((std::uint64_t{1} << mantissa_bits) - 1);
  const bool is_subnormal = exponent_bits == 0;
  return {is_subnormal ? fraction : fraction | std::uint64_t{1} << mantissa_bits,
          std::max(exponent_bits, 1) - exponent_bias, (pattern >> 63) != 0};
}

int length_of(const cpp_int& number) { return number == 0 ? 0 : static_cast<int>(msb(number)) + 1; }

/// Returns number * 2^exponent / divisor, rounded to the nearest f64, ties to even.
double rounded(cpp_int number, cpp_int divisor, int exponent) {
  if (number == 0) return 0;
  const bool is_negative = number < 0;
  if (is_negative) number = -number;
  constexpr int quotient_bits = 66;  // more than a mantissa and a rounding bit; the last bit is set if the rest is not 0
  const auto shift = quotient_bits - (length_of(number) - length_of(divisor));
  if (shift > 0)
    number <<= static_cast<unsigned>(shift);
  else
    divisor <<= static_cast<unsigned>(-shift);
  exponent -= shift;
  cpp_int quotient, rest;
  divide_qr(number, divisor, quotient, rest);
  if (rest != 0) quotient |= 1;
  const auto length = length_of(quotient);
  const auto kept = std::min(mantissa_bits + 1, exponent + length - min_exponent);
  if (kept < 0) return is_negative ? -0.0 : 0.0;
  const auto dropped = static_cast<unsigned>(length - kept);
  cpp_int result = quotient >> dropped;
  const cpp_int tail = quotient - (result << dropped), half = cpp_int(1) << (dropped - 1);
  if (tail > half || (tail == half && (result & 1) != 0)) ++result;
  const auto value =
      std::ldexp(static_cast<double>(result.convert_to<std::uint64_t>()), exponent + static_cast<int>(dropped));
  return is_negative ? -value : value;
}

}  // namespace

/// Converts an ExactSum to an integer in units of 2^first_bit.
struct ExactSumValue {
  static cpp_int of(const ExactSum& sum) {
    const auto plain = sum.carried();
    cpp_int value = 0;
    for (auto i = ExactSum::size; i-- > 0;) value = value * (std::int64_t{1} << ExactSum::bits) + plain.chunks_[i];
    return value;
  }
};

void ExactSum::add(std::uint64_t magnitude, int exponent, bool is_negative) {
  const auto at = static_cast<unsigned>(exponent - first_bit);
  auto* const chunk = chunks_.data() + at / bits;
  const auto shifted = static_cast<Bits128>(magnitude) << (at % bits);
  constexpr std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
  const auto low = static_cast<std::int64_t>(static_cast<std::uint64_t>(shifted) & mask),
             middle = static_cast<std::int64_t>(static_cast<std::uint64_t>(shifted) >> bits),
             high = static_cast<std::int64_t>(static_cast<std::uint64_t>(shifted >> (2 * bits)));
  const std::int64_t sign = is_negative ? -1 : 0;  // (v ^ -1) + 1 == -v, without a branch
  chunk[0] += (low ^ sign) - sign;
  chunk[1] += (middle ^ sign) - sign;
  chunk[2] += (high ^ sign) - sign;
  if (++added_ == max_added) carry();
}

void ExactSum::add(double value) {
  const auto [mantissa, exponent, is_negative] = parts_of(value);
  add(mantissa, exponent, is_negative);
}

void ExactSum::add_square(double value) {
  const auto parts = parts_of(value);
  const auto square = static_cast<Bits128>(parts.mantissa) * parts.mantissa;
  add(static_cast<std::uint64_t>(square & half_mask), 2 * parts.exponent, false);
  add(static_cast<std::uint64_t>(square >> half_bits), 2 * parts.exponent + half_bits, false);
}

/// Adds values with similar exponents in 128-bit integers, which is faster. `sum` has the values in units of 2^base.
/// `low` and `high` have the two halves of their squares in units of 2^(2 base).
struct ExactSum::Window {
  static constexpr int width = 30;                                 ///< accepted exponents: base to base + width
  static constexpr std::size_t max_values = std::size_t{1} << 14;  ///< 53 + 2 * 30 + 14 bits fit into 128
  int base;
  Bits128 sum = 0, low = 0, high = 0;

  void add(const Parts& parts, unsigned shift) {
    const auto shifted = static_cast<Bits128>(parts.mantissa) << shift;
    const Bits128 sign = parts.is_negative ? ~Bits128{0} : 0;
    sum += (shifted ^ sign) - sign;
    const auto square = static_cast<Bits128>(parts.mantissa) * parts.mantissa;
    low += (square & half_mask) << (2 * shift);
    high += (square >> half_bits) << (2 * shift);
  }

  void flush(ExactSum& into, ExactSum& into_squares) const {
    const bool is_negative = sum >> 127 != 0;
    add_wide(into, is_negative ? 0 - sum : sum, base, is_negative);
    add_wide(into_squares, low, 2 * base, false);
    add_wide(into_squares, high, 2 * base + half_bits, false);
  }

  static void add_wide(ExactSum& into, Bits128 number, int exponent, bool is_negative) {
    if (number == 0) return;
    into.add(static_cast<std::uint64_t>(number), exponent, is_negative);
    if (const auto rest = static_cast<std::uint64_t>(number >> 64); rest != 0) into.add(rest, exponent + 64, is_negative);
  }
};

void ExactSum::add_moments(std::span<const double> values, double max_magnitude, ExactSum& sum, ExactSum& squares) {
  const auto base = std::max(parts_of(max_magnitude).exponent - Window::width, min_exponent);
  for (std::size_t first = 0; first < values.size(); first += Window::max_values) {
    Window window{.base = base};
    for (const auto value : values.subspan(first, std::min(Window::max_values, values.size() - first))) {
      const auto parts = parts_of(value);
      if (parts.exponent >= base) {
        window.add(parts, static_cast<unsigned>(parts.exponent - base));
      } else if (value != 0) {
        sum.add(value);
        squares.add_square(value);
      }
    }
    window.flush(sum, squares);
  }
}

void ExactSum::carry() {
  for (std::size_t i = 0; i + 1 < size; ++i) {
    const auto over = chunks_[i] >> bits;  // rounds down, so the remainder is not negative
    chunks_[i] -= over * (std::int64_t{1} << bits);
    chunks_[i + 1] += over;
  }
  added_ = 0;
}

ExactSum ExactSum::carried() const {
  auto copy = *this;
  copy.carry();
  return copy;
}

void ExactSum::merge(const ExactSum& other) {
  carry();
  const auto plain = other.carried();
  for (std::size_t i = 0; i < size; ++i) chunks_[i] += plain.chunks_[i];
  carry();
}

/// Writes the chunks (digits) of the sum that are not zero. The number of a chunk precedes its value.
void ExactSum::write(PackedWriter& into) const {
  const auto plain = carried();
  into.number(static_cast<std::uint64_t>(size - std::count(plain.chunks_.begin(), plain.chunks_.end(), 0)));
  for (std::size_t i = 0; i < size; ++i) {
    if (plain.chunks_[i] == 0) continue;
    into.number(i);
    into.number(std::bit_cast<std::uint64_t>(plain.chunks_[i]));
  }
}

void ExactSum::merge(PackedReader& from) {
  ExactSum other;
  for (auto left = from.number(); left > 0; --left) {
    const auto at = from.number();
    if (at >= size) throw Error("the sum that another rank sent is damaged");
    other.chunks_[at] = std::bit_cast<std::int64_t>(from.number());
  }
  merge(other);
}

double ExactSum::mean(const ExactSum& sum, std::uint64_t count) {
  return rounded(ExactSumValue::of(sum), count, first_bit);
}

double ExactSum::variance(const ExactSum& sum, const ExactSum& squares, std::uint64_t count) {
  const auto total = ExactSumValue::of(sum);
  // Both sums are integers in units of 2^first_bit, so the square of a sum is in units of 2^(2 first_bit).
  const cpp_int numerator = ((ExactSumValue::of(squares) * count) << static_cast<unsigned>(-first_bit)) - total * total;
  return rounded(numerator, cpp_int(count) * count, 2 * first_bit);
}

}  // namespace trainrt::data
