#pragma once
#include <cstdint>
#include <string_view>

#include "core/plugin.hpp"

namespace trainrt::tune {

/// A plug-in: one file in tune/searchers. It says where in the space a trial lies.
struct Searcher {
  std::string_view name;
  std::string_view help;
  /// In [0, 1): of trial `trial` along that dimension. A pure function, so that a sweep has the same trials whoever asks.
  double (*unit)(std::uint64_t seed, std::uint64_t trial, std::size_t dimension);
};

PluginTable<Searcher> searcher_table();

}  // namespace trainrt::tune
