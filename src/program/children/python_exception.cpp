#include "program/children/python_exception.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

namespace trainrt::program {

namespace {

using Lines = std::vector<std::string_view>;

constexpr std::string_view headline = "Traceback (most recent call last):";
constexpr std::string_view group_headline = "Exception Group Traceback (most recent call last):";
/// Maximum number of lines of output after the traceback that ended a program, for example C++ frames. If more lines follow
/// a traceback, its exception did not end the program.
constexpr std::size_t max_lines_below = 120;

Lines lines_of(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const auto end = text.find('\n');
    auto line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back(line);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

std::string_view without(std::string_view prefix, std::string_view line) {
  return line.starts_with(prefix) ? line.substr(prefix.size()) : line;
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

/// Returns whether a line names an exception: "ValueError: why", "torch.OutOfMemoryError: why", "KeyboardInterrupt".
bool is_exception(std::string_view line) {
  if (line.empty() || !is_letter(line.front())) return false;
  const auto name = line.substr(0, line.find(':'));
  return std::ranges::all_of(name, [](char c) { return is_letter(c) || c == '.' || (c >= '0' && c <= '9'); });
}

/// Returns whether Python prints `line_above` before a traceback of an exception that does not end the program.
bool is_ignored(std::string_view line_above) {
  constexpr std::array<std::string_view, 3> beginnings = {"Exception ignored", "--- Logging error", "Error in atexit"};
  return std::ranges::any_of(beginnings,
                             [&](auto beginning) { return line_above.find(beginning) != std::string_view::npos; });
}

/// Returns the first exception inside an exception group, from the line `from` on. Each line inside a group begins with
/// a bar: "    | ValueError: 1".
std::string_view first_inside(const Lines& lines, std::size_t from) {
  for (auto i = from; i < lines.size(); ++i) {
    const auto bar = lines[i].find("| ");
    if (bar == std::string_view::npos || lines[i].find_first_not_of(' ') != bar) continue;
    if (const auto line = lines[i].substr(bar + 2); is_exception(line) && !line.starts_with("Exception Group")) return line;
  }
  return {};
}

std::optional<std::size_t> last_headline(const Lines& lines) {
  std::optional<std::size_t> group;  // headline inside a group; the headline of the group may precede it
  for (std::size_t i = lines.size(); i-- > 0;) {
    if (!lines[i].ends_with(headline)) continue;
    if (i > 0 && is_ignored(lines[i - 1])) continue;
    const bool is_inside = lines[i].find("| ") != std::string_view::npos;
    if (!is_inside) return i;
    group = i;
  }
  return group;
}

/// Returns the index of the exception line of the traceback that begins at line `first`. The exception line is the
/// first line that is not indented.
std::optional<std::size_t> end_of(const Lines& lines, std::size_t first, std::string_view prefix) {
  for (auto i = first + 1; i < lines.size(); ++i)
    if (const auto line = without(prefix, lines[i]); !line.empty() && !line.starts_with(' ')) return i;
  return std::nullopt;
}

/// Returns the index of the last line of a syntax error. Python prints no traceback for it, but the file, the source
/// line, a mark below it, and "SyntaxError: why".
std::optional<std::size_t> syntax_error(const Lines& lines) {
  for (std::size_t i = lines.size(); i-- > 2;)
    if ((lines[i].starts_with("SyntaxError: ") || lines[i].starts_with("IndentationError: ") ||
         lines[i].starts_with("TabError: ")) &&
        lines[i - 1].starts_with("    "))
      return i;
  return std::nullopt;
}

}  // namespace

std::string python_exception(std::string_view output) {
  const auto lines = lines_of(output);
  const auto first = last_headline(lines);
  const auto is_group = first && lines[*first].ends_with(group_headline);
  std::string prefix;
  if (first) prefix = lines[*first].substr(0, lines[*first].size() - (is_group ? group_headline : headline).size());
  if (is_group) std::ranges::replace(prefix, '+', '|');
  const auto found = first ? end_of(lines, *first, prefix) : syntax_error(lines);
  if (!found || lines.size() - *found > max_lines_below) return {};
  const auto line = without(prefix, lines[*found]);
  if (!is_exception(line)) return {};
  std::string text(line);
  if (const auto inside = is_group ? first_inside(lines, *found + 1) : std::string_view(); !inside.empty())
    text += ", first " + std::string(inside);
  return text;
}

}  // namespace trainrt::program
