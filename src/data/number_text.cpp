#include "data/number_text.hpp"

#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <string>

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

/// std::from_chars tells what is too large as it tells what is too small: which it is, strtod knows.
std::optional<double> tiny_in(std::string_view text) {
  double value = 0;
  const auto [stop, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc::result_out_of_range || stop != text.data() + text.size()) return std::nullopt;
  value = std::strtod(std::string(text).c_str(), nullptr);
  return std::isinf(value) ? std::nullopt : std::optional(value);
}

}  // namespace

std::optional<double> real_in(std::string_view text) {
  text = bare(text);
  double value = 0;
  const auto* end = text.data() + text.size();
  const auto* stop = read_real(text.data(), end, value);
  if (stop == nullptr) return tiny_in(text);
  return stop == end ? std::optional(value) : std::nullopt;
}

std::optional<std::int64_t> integer_in(std::string_view text) {
  text = bare(text);
  std::int64_t value = 0;
  const auto* end = text.data() + text.size();
  const auto* stop = read_integer(text.data(), end, value);
  return stop == end && !text.empty() ? std::optional(value) : std::nullopt;
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
