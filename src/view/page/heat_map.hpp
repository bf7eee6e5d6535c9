#pragma once
#include <nlohmann/json_fwd.hpp>

#include "view/charts/markup.hpp"
#include "view/curves/rank_times.hpp"

namespace trainrt::view::page {

/// Returns a heat map of the step times, with a row per rank and a column per interval. The color of a cell shows the
/// ratio to the median rank in the interval. If the run has one rank, the color shows the ratio to the median of all
/// intervals.
Markup heat_map_of(const RankTimes& times);

/// Returns the values of the heat map for the script of the page, which shows the values at the pointer: {"rows":
/// [names], "columns": [texts], "own": [[us]], "median": [us]}.
nlohmann::ordered_json heat_map_json(const RankTimes& times);

}  // namespace trainrt::view::page
