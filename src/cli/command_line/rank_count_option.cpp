#include "cli/command_line/rank_count_option.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/options.hpp"
#include "core/text/text.hpp"

namespace trainrt::cli {

std::optional<int> take_rank_count_option(std::vector<std::string>& words, std::string_view usage) {
  constexpr int max_ranks = 4096;
  const auto end = std::ranges::find(words, "--");
  const auto option = std::find(words.begin(), end, "-n");
  if (option == end) return std::nullopt;
  const auto number = option + 1 == end ? std::nullopt : parse_integer(*(option + 1));
  if (!number || *number < 1 || *number > max_ranks)
    throw UsageError(fmt::format("option -n has {}: it must be the number of ranks, from 1 to {}; usage: trainrt {}",
                                 option + 1 == end ? "no value" : fmt::format("the value '{}'", excerpt(*(option + 1), 60)),
                                 max_ranks, usage));
  words.erase(option, option + 2);
  return static_cast<int>(*number);
}

}  // namespace trainrt::cli
