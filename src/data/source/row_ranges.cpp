#include "data/source/row_ranges.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/text/text.hpp"
#include "data/bytes/data_file.hpp"
#include "data/bytes/input_file.hpp"

namespace trainrt::data {

namespace {

constexpr std::string_view between = ", \t\r\n";

std::optional<std::uint64_t> number_from(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number > INT64_MAX) return std::nullopt;
  return number;
}

}  // namespace

RowRanges::RowRanges(std::string_view text) {
  for (;;) {
    text.remove_prefix(std::min(text.find_first_not_of(between), text.size()));
    if (text.empty()) return;
    const auto word = text.substr(0, text.find_first_of(between));
    add(word);
    text.remove_prefix(word.size());
  }
}

void RowRanges::add(std::string_view word) {
  const auto colon = word.find(':');
  const auto first = number_from(word.substr(0, colon));
  const auto last = colon == std::string_view::npos ? first : number_from(word.substr(colon + 1));
  const auto end = last && colon == std::string_view::npos ? std::optional(*last + 1) : last;
  if (!first || !end || *end < *first)
    throw UsageError(
        fmt::format("rows has '{}'; valid are FIRST:END and single numbers, from 0, with commas or ends of lines "
                    "between them: 0:800, 900",
                    word));
  if (*end == *first) return;
  largest_ = std::max(largest_, *end - 1);
  const auto count = *end - *first;
  const auto before = ends_.size() > 1 ? ends_[ends_.size() - 2] : 0;  // the last run of neighbours
  const bool goes_on = !ends_.empty() && firsts_.back() + (ends_.back() - before) == *first;
  if (goes_on) {
    ends_.back() += count;
    return;
  }
  ends_.push_back(size() + count);
  firsts_.push_back(*first);
}

std::uint64_t RowRanges::operator[](std::uint64_t at) const {
  const auto run = static_cast<std::size_t>(std::upper_bound(ends_.begin(), ends_.end(), at) - ends_.begin());
  return firsts_[run] + (at - (run == 0 ? 0 : ends_[run - 1]));
}

std::string text_of_rows(const std::string& given) {
  if (!given.starts_with('@')) return given;
  const auto files = list_data_files(given.substr(1));
  if (files.size() != 1) throw UsageError(fmt::format("rows = {}: it must name one file", given));
  std::string text(files.front().size, '\0');
  InputFile(files.front()).read(0, std::as_writable_bytes(std::span(text)));
  if (text.find_first_not_of(between) == std::string::npos)
    throw UsageError(fmt::format("rows = {}: the file names no samples", given));
  return text;
}

}  // namespace trainrt::data
