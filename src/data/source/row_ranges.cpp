#include "data/source/row_ranges.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "data/bytes/data_file.hpp"
#include "data/bytes/input_file.hpp"

namespace trainrt::data {

namespace {

constexpr std::string_view separators = ", \t\r\n";

std::optional<std::uint64_t> sample_number(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number > INT64_MAX) return std::nullopt;
  return number;
}

}  // namespace

RowRanges::RowRanges(std::string_view text) {
  for (;;) {
    text.remove_prefix(std::min(text.find_first_not_of(separators), text.size()));
    if (text.empty()) return;
    const auto word = text.substr(0, text.find_first_of(separators));
    add(word);
    text.remove_prefix(word.size());
  }
}

void RowRanges::add(std::string_view word) {
  const auto colon = word.find(':');
  const auto first = sample_number(word.substr(0, colon));
  auto end = colon == std::string_view::npos ? first : sample_number(word.substr(colon + 1));
  if (end && colon == std::string_view::npos) ++*end;
  if (!first || !end || *end < *first)
    throw UsageError(
        fmt::format("'{}' is not a range of samples; "
                    "valid are FIRST:END and single numbers, from 0, separated by commas or line breaks: 0:800, 900",
                    word));
  if (*end == *first) return;
  max_ = std::max(max_, *end - 1);
  if (runs() > 0) {
    const auto last = run(runs() - 1);
    if (last.first + last.count == *first) {
      ends_.back() += *end - *first;
      return;
    }
  }
  ends_.push_back(size() + (*end - *first));
  firsts_.push_back(*first);
}

std::uint64_t RowRanges::operator[](std::uint64_t index) const {
  const auto run = static_cast<std::size_t>(std::upper_bound(ends_.begin(), ends_.end(), index) - ends_.begin());
  return firsts_[run] + (index - (run == 0 ? 0 : ends_[run - 1]));
}

std::string text_of_rows(const std::string& given) {
  if (!given.starts_with('@')) return given;
  const auto files = list_data_files(given.substr(1));
  if (files.size() != 1)
    throw UsageError(fmt::format("'{}' names {} files; it must name one file with a list of samples", given, files.size()));
  auto text = read_text(files.front());
  if (text.find_first_not_of(separators) == std::string::npos)
    throw UsageError(fmt::format("the file of '{}' names no samples; write ranges such as 0:800, 900 into it", given));
  return text;
}

}  // namespace trainrt::data
