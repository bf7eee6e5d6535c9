#include "frameworks/trees/lightgbm/lightgbm_log.hpp"

#include <cstdio>
#include <set>
#include <string>

namespace trainrt::frameworks::trees {

void print_lightgbm_log(const char* text) {
  thread_local std::string line;
  thread_local std::set<std::string> printed;
  constexpr std::size_t max_lines = 1000;  // maximum size of `printed`
  line += text;
  if (!line.ends_with('\n')) return;
  if (printed.size() < max_lines && printed.insert(line).second) std::fputs(line.c_str(), stdout);
  line.clear();
}

}  // namespace trainrt::frameworks::trees
