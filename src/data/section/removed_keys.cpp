#include "data/section/removed_keys.hpp"

#include <string_view>

#include <fmt/format.h>
#include <trainrt/error.hpp>

namespace trainrt::data {

namespace {

struct RemovedKey {
  std::string_view key;
  std::string_view advice;
};

constexpr RemovedKey removed_keys[] = {
    {"join", "join the tables before the run, with DuckDB or pandas, and use the joined file as source"},
};

}  // namespace

void refuse_removed_keys(const std::string& section, const Options& given) {
  for (const auto& [key, advice] : removed_keys)
    if (const auto* value = given.find(key))
      throw UsageError(fmt::format("{}: the key {} in {} was removed: {}", value->origin, key, section, advice));
}

}  // namespace trainrt::data
