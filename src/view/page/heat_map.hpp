#pragma once
#include <nlohmann/json_fwd.hpp>

#include "view/page/markup.hpp"
#include "view/page/rank_times.hpp"

namespace trainrt::view::page {

/// Ranks from top to bottom, time from left to right, the colour how slow a rank was beside the median rank at that time.
/// A rank alone is held against its own median.
Markup heat_map_of(const RankTimes& times);

/// For the script, which tells what lies under the pointer: {"rows": [names], "columns": [texts], "own": [[us]], "median":
/// [us]}.
nlohmann::ordered_json heat_map_json(const RankTimes& times);

}  // namespace trainrt::view::page
