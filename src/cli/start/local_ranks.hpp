#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trainrt::cli {

/// N of `-n N`, which is cut out; nullopt if it is not there. Words behind `--` are a program's. UsageError that shows
/// `usage` if it is no number of ranks.
std::optional<int> take_local_ranks(std::vector<std::string>& words, std::string_view usage);

}  // namespace trainrt::cli
