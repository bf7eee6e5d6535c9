#pragma once
#include <cstdint>
#include <string_view>

#include "core/plugin.hpp"

namespace trainrt::tune {

/// A plug-in that selects the point of the search space that a trial uses. Each plug-in is one file in tune/searchers.
struct Searcher {
  std::string_view name;
  std::string_view help;
  /// Returns the coordinate, in [0, 1), of trial `trial` in dimension `dimension`. Pure function, so that a sweep has
  /// the same trials in every process.
  double (*unit)(std::uint64_t seed, std::uint64_t trial, std::size_t dimension);
};

PluginTable<Searcher> searcher_table();

}  // namespace trainrt::tune
