#include "checkpoint/load/selection.hpp"

#include <fnmatch.h>

#include <string_view>

namespace trainrt::checkpoint {

bool selects(const Selection& selection, const std::string& name) {
  constexpr std::string_view own = "trainrt/";
  if (selection.patterns.empty()) return true;
  const bool is_own = name.starts_with(own);
  bool selected = !is_own && selection.patterns.front().starts_with('!');
  for (const auto& pattern : selection.patterns) {
    const bool out = pattern.starts_with('!');
    const auto glob = pattern.substr(out ? 1 : 0);
    if (is_own && !glob.starts_with(own)) continue;
    if (::fnmatch(glob.c_str(), name.c_str(), 0) == 0) selected = !out;
  }
  return selected;
}

}  // namespace trainrt::checkpoint
