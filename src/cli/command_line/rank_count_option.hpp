#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trainrt::cli {

/// Removes the option `-n N` from `words` and returns N, the number of ranks to start; nullopt without such an option.
/// Words after `--` belong to a program and are ignored. Throws UsageError that shows `usage` if N is not a valid number of
/// ranks.
std::optional<int> take_rank_count_option(std::vector<std::string>& words, std::string_view usage);

}  // namespace trainrt::cli
