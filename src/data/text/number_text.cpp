#include "data/text/number_text.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>

#include <fmt/format.h>

namespace trainrt::data {

namespace {

bool is_blank(char c) { return c == ' ' || c == '\t'; }

/// Without blanks around it, and without a plus before a digit or a point.
std::string_view bare(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  if (text.size() > 1 && text.front() == '+' && text[1] != '-' && text[1] != '+') text.remove_prefix(1);
  return text;
}

/// A copy with room behind it, as the quick readings want it. What is longer than any number is cut into what is none.
class Padded {
 public:
  explicit Padded(std::string_view text) : size_(std::min(text.size(), longest)) {
    std::memcpy(bytes_.data(), text.data(), size_);
    if (text.size() > size_) bytes_[size_ - 1] = '?';
    std::memset(bytes_.data() + size_, 0, 8);
  }
  const char* begin() const { return bytes_.data(); }
  const char* end() const { return bytes_.data() + size_; }

 private:
  static constexpr std::size_t longest = 1024;
  std::array<char, longest + 8> bytes_;
  std::size_t size_;
};

/// std::from_chars tells what is too large as it tells what is too small: which it is, strtod knows.
std::optional<double> tiny_in(std::string_view text) {
  double value = 0;
  const auto [stop, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc::result_out_of_range || stop != text.data() + text.size()) return std::nullopt;
  value = std::strtod(std::string(text).c_str(), nullptr);
  return std::isinf(value) ? std::nullopt : std::optional(value);
}

}  // namespace

double divided(std::uint64_t digits, std::size_t power) {
  __extension__ using Wide = unsigned __int128;
  // As a fraction: 64 bits of the quotient, and whether anything is left of it. Both sides begin with a set bit, and the
  // one above is made the smaller.
  const auto below = powers_of_ten[power];
  const int above_shift = std::countl_zero(digits), below_shift = std::countl_zero(below);
  const auto divisor = below << below_shift;
  Wide dividend = Wide{digits << above_shift} << 64;
  int exponent = below_shift - above_shift - 64;
  if (digits << above_shift >= divisor) {
    dividend >>= 1;
    ++exponent;
  }
  const auto quotient = static_cast<std::uint64_t>(dividend / divisor);  // of 64 bits, or of 63
  const bool is_exact = Wide{quotient} * divisor == dividend;
  const int spare = 64 - std::countl_zero(quotient) - 53;  // bits that a double does not hold
  const auto half = std::uint64_t{1} << (spare - 1);
  const auto rest = quotient & (2 * half - 1);
  auto kept = quotient >> spare;
  if (rest > half || (rest == half && (!is_exact || (kept & 1) != 0))) ++kept;
  // The power of two is that of a normal number: the value lies between 10^-4 and 2^64.
  const auto scale = std::bit_cast<double>(static_cast<std::uint64_t>(1023 + exponent + spare) << 52);
  return static_cast<double>(kept) * scale;
}

const char* read_long_real(const char* begin, const char* end, double& value) {
  // As long as the digits make an integer below 2^53 and the power of ten is exact, one division rounds correctly
  // (Clinger, "How to read floating point numbers accurately", PLDI 1990).
  const bool negative = *begin == '-';
  const char* const first = begin + negative;
  std::uint64_t digits = 0;
  const char* at = read_digits(first, digits);
  auto count = at - first;
  std::size_t fraction = 0;
  if (*at == '.' && at != end) {
    const char* const point = at;
    at = read_digits(point + 1, digits);
    fraction = static_cast<std::size_t>(at - point - 1);
    count = at - first - 1;
  }
  if (count == 0 || count > 19 || at != end) {
    const auto [stop, code] = std::from_chars(begin, end, value);
    return code == std::errc() ? stop : nullptr;
  }
  value =
      digits <= std::uint64_t{1} << 53 ? static_cast<double>(digits) / exact_powers[fraction] : divided(digits, fraction);
  value = std::bit_cast<double>(std::bit_cast<std::uint64_t>(value) | std::uint64_t{negative} << 63);  // no branch to guess
  return at;
}

std::optional<double> real_in(std::string_view text) {
  const Padded padded(bare(text));
  double value = 0;
  const auto* stop = read_real(padded.begin(), padded.end(), value);
  if (stop == nullptr) return tiny_in(bare(text));
  return stop == padded.end() ? std::optional(value) : std::nullopt;
}

std::optional<std::int64_t> integer_in(std::string_view text) {
  const Padded padded(bare(text));
  std::int64_t value = 0;
  return read_integer(padded.begin(), padded.end(), value) == padded.end() ? std::optional(value) : std::nullopt;
}

NumberKind number_kind(std::string_view text) {
  const Padded padded(bare(text));
  std::int64_t whole = 0;
  if (read_integer(padded.begin(), padded.end(), whole) == padded.end()) return NumberKind::whole;
  double real = 0;
  const auto* const stop = read_real(padded.begin(), padded.end(), real);
  if (stop == padded.end()) return NumberKind::real;
  return stop == nullptr && tiny_in(bare(text)) ? NumberKind::real : NumberKind::none;
}

bool is_exact_in(std::string_view text) {
  text = bare(text);
  if (!text.empty() && text.front() == '-') text.remove_prefix(1);
  text.remove_prefix(std::min(text.find_first_not_of('0'), text.size()));
  if (text.size() < 16 || text.find_first_not_of("0123456789") != text.npos) return true;
  double value = 0;
  const auto [stop, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  return code == std::errc() && fmt::format("{:.0f}", value) == text;
}

std::optional<bool> truth_in(std::string_view text) {
  text = bare(text);
  for (const auto* word : {"true", "True", "TRUE"})
    if (text == word) return true;
  for (const auto* word : {"false", "False", "FALSE"})
    if (text == word) return false;
  return std::nullopt;
}

}  // namespace trainrt::data
