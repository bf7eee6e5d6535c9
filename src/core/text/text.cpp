#include "core/text/text.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "core/text/printable.hpp"

namespace trainrt {

std::string join(std::span<const std::string> parts, std::string_view separator) {
  std::string out;
  for (const auto& part : parts) {
    if (&part != parts.data()) out += separator;
    out += part;
  }
  return out;
}

Utf8Character first_character(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const int more = lead < 0x80                   ? 0
                   : lead >= 0xC2 && lead < 0xE0 ? 1
                   : lead >= 0xE0 && lead < 0xF0 ? 2
                   : lead >= 0xF0 && lead < 0xF5 ? 3
                                                 : -1;
  if (more < 0 || text.size() <= static_cast<std::size_t>(more)) return {};
  char32_t point = more == 0 ? lead : lead & (0x3FU >> more);
  for (int i = 1; i <= more; ++i) {
    const auto byte = static_cast<unsigned char>(text[static_cast<std::size_t>(i)]);
    if ((byte & 0xC0) != 0x80) return {};
    point = point << 6 | (byte & 0x3FU);
  }
  const bool overlong = (more == 2 && point < 0x800) || (more == 3 && point < 0x10000);
  if (overlong || (point >= 0xD800 && point < 0xE000) || point > 0x10FFFF) return {};
  return {static_cast<std::size_t>(more) + 1, point};
}

namespace {

/// Returns `line` with each byte of a control character or of invalid UTF-8 escaped, for example as \x1b.
std::string escaped(std::string_view line) {
  std::string out;
  for (std::size_t at = 0; at < line.size();) {
    const auto [bytes, point] = first_character(line.substr(at));
    const auto character = line.substr(at, std::max<std::size_t>(bytes, 1));
    if (bytes > 0 && !is_terminal_control(point))
      out += character;
    else
      for (const char c : character) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    at += character.size();
  }
  return out;
}

}  // namespace

bool is_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto bytes = first_character(text.substr(at)).bytes;
    if (bytes == 0) return false;
    at += bytes;
  }
  return true;
}

std::vector<std::string> printable_lines(std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  std::vector<std::string> lines;
  for (std::size_t at = 0; at <= text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    auto line = text.substr(at, end - at);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back(escaped(line));
    at = end + 1;
  }
  return lines;
}

std::string first_line(std::string_view text) { return std::string(text.substr(0, text.find('\n'))); }

std::string without_numbers(std::string_view text) {
  std::string plain;
  bool was_digit = false;
  for (const char c : text) {
    const bool is_digit = c >= '0' && c <= '9';
    if (!is_digit) plain += c;
    if (is_digit && !was_digit) plain += '#';
    was_digit = is_digit;
  }
  return plain;
}

std::string excerpt(std::string_view text, std::size_t max_bytes) {
  if (text.size() <= max_bytes) return std::string(text);
  const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; };
  while (max_bytes > 0 && continues(text[max_bytes])) --max_bytes;
  return fmt::format("{}... ({} bytes)", text.substr(0, max_bytes), text.size());
}

std::string trim(std::string_view text) {
  const auto blank = " \t\r\n";
  const auto first = text.find_first_not_of(blank);
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(blank) - first + 1));
}

std::vector<std::string> words_in(std::string_view list, char separator) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at <= list.size();) {
    const auto end = std::min(list.find(separator, at), list.size());
    if (auto word = trim(list.substr(at, end - at)); !word.empty()) words.push_back(std::move(word));
    at = end + 1;
  }
  return words;
}

namespace {

/// Returns the optimal string alignment distance: the number of insertions, deletions, substitutions and transpositions of
/// neighboring characters that change `a` into `b`. No part of the text is changed twice.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before, above(b.size() + 1), row;
  std::iota(above.begin(), above.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row.assign(b.size() + 1, i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substitute = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, substitute});
      const bool is_swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (is_swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before = std::exchange(above, row);
  }
  return above[b.size()];
}

/// Returns the maximum distance of two words that are similar. The maximum is smaller for short words, because most short
/// words have another word at distance 2.
std::size_t max_similar_distance(std::string_view word, std::string_view candidate) {
  constexpr std::size_t short_word = 3;
  const auto length = std::min(word.size(), candidate.size());
  return length <= short_word ? std::min<std::size_t>(1, word.size() - 1) : std::max<std::size_t>(2, word.size() / 3);
}

/// Returns whether `letters` has the first letters of the words in `name`, which '_' separates: lr for learning_rate.
bool are_initials(std::string_view letters, std::string_view name) {
  std::string initials;
  for (std::size_t at = 0; at < name.size(); ++at)
    if (name[at] != '_' && (at == 0 || name[at - 1] == '_')) initials += name[at];
  return initials.size() > 1 && initials == letters;
}

}  // namespace

std::string nearest(std::string_view word, std::span<const std::string> candidates) {
  std::string best;
  if (word.empty()) return best;
  auto best_distance = std::numeric_limits<std::size_t>::max();
  for (const auto& candidate : candidates) {
    const auto distance = edit_distance(word, candidate);
    if (distance < best_distance && distance <= max_similar_distance(word, candidate)) {
      best_distance = distance;
      best = candidate;
    }
  }
  if (!best.empty()) return best;
  const auto found = std::ranges::find_if(
      candidates, [&](const auto& each) { return are_initials(each, word) || are_initials(word, each); });
  return found == candidates.end() ? "" : *found;
}

std::string shell_quoted(std::string_view word) {
  constexpr std::string_view plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@%+=:,./_-";
  if (!word.empty() && word.find_first_not_of(plain) == std::string_view::npos) return std::string(word);
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? R"('\'')" : std::string(1, c);
  return quoted + "'";
}

std::string did_you_mean(std::string_view word, std::span<const std::string> candidates) {
  const auto near = nearest(word, candidates);
  return near.empty() ? std::string() : " (did you mean '" + near + "'?)";
}

std::uint64_t stable_hash(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3;
  }
  return hash;
}

std::string clock_text(double seconds) {
  const auto rounded = static_cast<std::int64_t>(std::llround(std::max(0.0, seconds)));
  return fmt::format("{}:{:02}:{:02}", rounded / 3600, rounded / 60 % 60, rounded % 60);
}

std::string three_digits(double number) {
  constexpr double min_grouped = 999.5, max_grouped = 1e12;  // a smaller number has at most three digits before the point
  auto text = fmt::format("{:.3g}", number);
  if (!(number >= min_grouped && number < max_grouped)) return text;
  text = fmt::format("{:.0f}", std::stod(text));
  for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3)
    text.insert(static_cast<std::size_t>(at), 1, ',');
  return text;
}

std::string counted(std::int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace trainrt
