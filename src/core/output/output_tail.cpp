#include "core/output/output_tail.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/output/output_targets.hpp"
#include "core/text/text.hpp"

namespace trainrt {

namespace {

/// Returns the part of a line that a terminal shows, which is the part after the last \r. A \r at the end of the line
/// belongs to the line break and is removed first.
std::string_view as_shown(std::string_view line) {
  while (line.ends_with('\r')) line.remove_suffix(1);
  const auto start = line.rfind('\r');
  return start == std::string_view::npos ? line : line.substr(start + 1);
}

}  // namespace

void OutputTail::add(std::string_view bytes) {
  if (bytes.size() > max_bytes) bytes.remove_prefix(bytes.size() - max_bytes);
  bytes_ += bytes;
  if (bytes_.size() > 2 * max_bytes) bytes_.erase(0, bytes_.size() - max_bytes);
}

std::string OutputTail::text() const {
  std::string_view rest = bytes_;
  rest.remove_prefix(rest.size() - std::min(rest.size(), max_bytes));
  std::string text;
  while (!rest.empty()) {
    const auto end = rest.find('\n');
    text += as_shown(rest.substr(0, end));
    if (end == std::string_view::npos) break;
    text += '\n';
    rest.remove_prefix(end + 1);
  }
  return text;
}

std::string_view end_of_lines(std::string_view text, std::size_t lines) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  auto start = text.size();
  for (std::size_t count = 0; count < lines && start != std::string_view::npos && start > 0; ++count)
    start = text.rfind('\n', start - 1);
  if (start != std::string_view::npos && start < text.size() && text[start] == '\n') text.remove_prefix(start + 1);
  return text;
}

std::string last_lines(std::string_view text, std::size_t lines, std::size_t bytes) {
  const auto end = end_of_lines(text, lines);
  if (end.size() <= bytes) return std::string(end);
  return "..." + std::string(end.substr(end.size() - bytes));
}

std::string printable_end(std::string_view output) {
  constexpr std::size_t max_lines = 20;
  constexpr std::size_t max_bytes = std::size_t{8} << 10;
  return join(printable_lines(last_lines(output, max_lines, max_bytes)), "\n");
}

std::string lines_in_words(int rank, const std::string& lines) {
  if (lines.empty()) return "";
  return fmt::format("\nits last lines ({} has all):\n{}", rank_log_name(rank), lines);
}

}  // namespace trainrt
