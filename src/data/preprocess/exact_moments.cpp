#include "data/preprocess/exact_moments.hpp"

#include <algorithm>
#include <cmath>

#include <boost/multiprecision/cpp_int.hpp>

namespace trainrt::data {

namespace {

using boost::multiprecision::cpp_int;

constexpr int mantissa_bits = 53, min_exponent = -1074;

int length_of(const cpp_int& number) { return number == 0 ? 0 : static_cast<int>(msb(number)) + 1; }

/// Returns number * 2^exponent / divisor, rounded to the nearest f64, ties to even.
double rounded(cpp_int number, cpp_int divisor, int exponent) {
  if (number == 0) return 0;
  const bool is_negative = number < 0;
  if (is_negative) number = -number;
  constexpr int quotient_bits = 66;  // more than a mantissa and a rounding bit; the last bit is set if a remainder is left
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
  const auto kept = std::min(mantissa_bits, exponent + length - min_exponent);
  if (kept < 0) return is_negative ? -0.0 : 0.0;
  const auto dropped = static_cast<unsigned>(length - kept);
  cpp_int result = quotient >> dropped;
  const cpp_int tail = quotient - (result << dropped), half = cpp_int(1) << (dropped - 1);
  if (tail > half || (tail == half && (result & 1) != 0)) ++result;
  const auto value =
      std::ldexp(static_cast<double>(result.convert_to<std::uint64_t>()), exponent + static_cast<int>(dropped));
  return is_negative ? -value : value;
}

/// Returns the sum of number(element) * 2^(step * index) over the elements.
template <class Elements, class Number>
cpp_int weighted_sum(const Elements& elements, unsigned step, const Number& number) {
  cpp_int sum = 0;
  for (auto at = elements.size(); at-- > 0;) sum = sum * (1U << step) + number(elements[at]);
  return sum;
}

}  // namespace

/// Writes the number of exponents with a sum other than 0, then each of these exponents, followed by its sums.
void ExactMoments::write(PackedWriter& into) const {
  const auto occurs = [](const Sums& sums) { return sums.values != 0 || sums.squares != 0 || sums.carries != 0; };
  into.number(static_cast<std::uint64_t>(std::ranges::count_if(sums_, occurs)));
  for (std::size_t exponent = 0; exponent < sums_.size(); ++exponent) {
    const auto& sums = sums_[exponent];
    if (!occurs(sums)) continue;
    into.number(exponent);
    into.number(static_cast<std::uint64_t>(sums.values));
    into.integer(static_cast<std::int64_t>(sums.values >> 64));
    into.number(static_cast<std::uint64_t>(sums.squares));
    into.number(static_cast<std::uint64_t>(sums.squares >> 64));
    into.number(sums.carries);
  }
}

void ExactMoments::merge(PackedReader& from) {
  for (auto left = from.number(); left > 0; --left) {
    const auto exponent = from.number();
    if (exponent >= sums_.size()) throw Error("a sum that another rank sent is damaged: its exponent is out of range");
    auto& sums = sums_[exponent];
    const auto low = from.number();
    sums.values += static_cast<decltype(sums.values)>(static_cast<Bits128>(from.integer()) << 64 | low);
    const auto low_squares = from.number();
    sums.add_squares(static_cast<Bits128>(from.number()) << 64 | low_squares);
    sums.carries += from.number();
  }
}

double ExactMoments::mean(std::uint64_t count) const {
  return rounded(weighted_sum(sums_, 1, [](const Sums& sums) { return cpp_int(sums.values); }), count, min_exponent);
}

double ExactMoments::variance(std::uint64_t count) const {
  const auto total = weighted_sum(sums_, 1, [](const Sums& sums) { return cpp_int(sums.values); });
  const auto squares =
      weighted_sum(sums_, 2, [](const Sums& sums) { return (cpp_int(sums.carries) << 128) + cpp_int(sums.squares); });
  return rounded(squares * count - total * total, cpp_int(count) * count, 2 * min_exponent);
}

}  // namespace trainrt::data
