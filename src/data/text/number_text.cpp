#include "data/text/number_text.hpp"

#include <algorithm>
#include <cmath>

#include <fast_float/fast_float.h>
#include <fmt/format.h>

#include "core/text/parse_number.hpp"

namespace trainrt::data {

namespace {

constexpr std::size_t max_number_bytes = 1024;

bool is_blank(char c) { return c == ' ' || c == '\t'; }

/// Returns `text` without the blanks around it, and without a plus at its beginning unless another sign follows the plus.
std::string_view bare(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  if (text.size() > 1 && text.front() == '+' && text[1] != '-' && text[1] != '+') text.remove_prefix(1);
  return text;
}

}  // namespace

const char* read_long_real(const char* begin, const char* end, double& value) {
  const auto [stop, error] = fast_float::from_chars(begin, end, value);
  // fast_float 8 reports an error, and the value 0, for a number that is too close to 0.
  if (error != std::errc() && (error != std::errc::result_out_of_range || value != 0)) return nullptr;
  const char first = begin[*begin == '-' ? 1 : 0];
  const bool is_too_large = std::isinf(value) && first != 'i' && first != 'I';
  return is_too_large ? nullptr : stop;
}

std::optional<double> real_in(std::string_view text) {
  text = bare(text);
  const auto* const end = text.data() + text.size();
  double value = 0;
  if (text.empty() || text.size() > max_number_bytes || read_long_real(text.data(), end, value) != end) return std::nullopt;
  return value;
}

std::optional<std::int64_t> integer_in(std::string_view text) {
  text = bare(text);
  return text.size() > max_number_bytes ? std::nullopt : parse_number<std::int64_t>(text);
}

NumberKind number_kind(std::string_view text) {
  if (integer_in(text)) return NumberKind::whole;
  return real_in(text) ? NumberKind::real : NumberKind::none;
}

bool is_exact_in(std::string_view text) {
  text = bare(text);
  if (!text.empty() && text.front() == '-') text.remove_prefix(1);
  text.remove_prefix(std::min(text.find_first_not_of('0'), text.size()));
  if (text.size() < 16 || text.find_first_not_of("0123456789") != text.npos) return true;
  double value = 0;
  fast_float::from_chars(text.data(), text.data() + text.size(), value);
  return fmt::format("{:.0f}", value) == text;
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
