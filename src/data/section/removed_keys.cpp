#include "data/section/removed_keys.hpp"

#include <array>

#include <fmt/format.h>
#include <trainrt/error.hpp>

namespace trainrt::data {

namespace {

constexpr std::array removed{
    RemovedKey{"join", "Join the tables before the run, with DuckDB or pandas, and use the joined file as source"},
    RemovedKey{
        "tokenize",
        "Convert the texts to token files once with jobs/python/token_files.py, and read these with format = tokens"},
};

}  // namespace

std::span<const RemovedKey> removed_keys() { return removed; }

void require_not_removed(const std::string& section, const Options& options) {
  for (const auto& row : removed)
    if (const auto* given = options.find(row.key))
      throw UsageError(fmt::format("{}: the key '{}' in {} was removed. {}", given->origin, row.key, section, row.advice));
}

}  // namespace trainrt::data
