#include "program/environments/framework_environment.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <trainrt/error.hpp>

namespace trainrt::program {

Frameworks chosen_frameworks(std::span<const std::string> names) {
  const auto table = environment_table();
  if (names.size() == 1 && names.front() == "all") return {table.begin(), table.end()};
  Frameworks chosen;
  for (const auto& name : names) {
    const auto& framework = find_plugin(table, name, "framework");
    if (std::ranges::find(chosen, &framework) != chosen.end())
      throw UsageError(fmt::format("the framework '{}' is named twice", name));
    chosen.push_back(&framework);
  }
  return chosen;
}

}  // namespace trainrt::program
