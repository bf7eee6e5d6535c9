#include "core/text/name_patterns.hpp"

#include <string_view>

#include <fnmatch.h>

namespace trainrt {

bool is_selected_by(std::span<const std::string> patterns, const std::string& name) {
  constexpr std::string_view own = "trainrt/";
  const bool is_own = name.starts_with(own);
  bool matched = !is_own && !patterns.empty() && patterns.front().starts_with('!');
  for (const auto& pattern : patterns) {
    const bool out = pattern.starts_with('!');
    const auto glob = pattern.substr(out ? 1 : 0);
    if (is_own && !glob.starts_with(own)) continue;
    if (::fnmatch(glob.c_str(), name.c_str(), 0) == 0) matched = !out;
  }
  return matched;
}

}  // namespace trainrt
