#include "cli/command_line/rank_count_option.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/options.hpp"
#include "core/text/text.hpp"

namespace trainrt::cli {

namespace {

/// Returns whether `word` is -n, or -n followed by a number without a blank.
bool is_rank_count(const std::string& word) {
  return word == "-n" || (word.starts_with("-n") && parse_integer(word.substr(2)));
}

}  // namespace

std::optional<int> take_rank_count_option(std::vector<std::string>& words, std::string_view usage) {
  constexpr int max_ranks = 4096;
  const auto end = std::ranges::find(words, "--");
  const auto option = std::find_if(words.begin(), end, is_rank_count);
  if (option == end) return std::nullopt;
  if (*option != "-n") {  // -n2 becomes -n 2
    const auto number = option->substr(2);
    option->resize(2);
    words.insert(option + 1, number);
    return take_rank_count_option(words, usage);
  }
  const auto number = option + 1 == end ? std::nullopt : parse_integer(*(option + 1));
  if (!number || *number < 1 || *number > max_ranks)
    throw UsageError(fmt::format("option -n has {}: it must be the number of ranks, from 1 to {}; usage: trainrt {}",
                                 option + 1 == end ? "no value" : fmt::format("the value '{}'", excerpt(*(option + 1), 60)),
                                 max_ranks, usage));
  words.erase(option, option + 2);
  return static_cast<int>(*number);
}

}  // namespace trainrt::cli
