#pragma once
#include <nlohmann/json_fwd.hpp>

#include "view/charts/markup.hpp"
#include "view/curves/rank_times.hpp"

namespace trainrt::view::page {

/// Returns a heat map of step times: a row per rank, a column per interval, colored by the ratio to the median rank in that
/// interval. A run of one rank is compared with its own median.
Markup heat_map_of(const RankTimes& times);

/// Returns the values for the script, which shows them at the pointer: {"rows": [names], "columns": [texts], "own": [[us]],
/// "median": [us]}.
nlohmann::ordered_json heat_map_json(const RankTimes& times);

}  // namespace trainrt::view::page
