#include "tune/record/trial_workers.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/text/text.hpp"

namespace trainrt::tune {

namespace {

constexpr std::int64_t max_ranks = 1000000;  // same maximum as that of tune.workers

const SearchSpace::Dimension* workers_in(const SearchSpace& space) {
  const auto& all = space.dimensions();
  const auto found = std::ranges::find(all, workers_key, &SearchSpace::Dimension::key);
  return found == all.end() ? nullptr : &*found;
}

std::int64_t count_in(const std::string& text) { return parse_integer(text).value_or(0); }

[[noreturn]] void refuse(const SearchSpace::Dimension& dimension, const std::string& value) {
  throw UsageError(
      fmt::format("{}: [tune.space] {} = {}: a trial needs 1 to {} ranks, for example grid(1, 2) or "
                  "randint(1, 5)",
                  dimension.origin, workers_key, value, max_ranks));
}

}  // namespace

bool sets_workers(const SearchSpace& space) { return workers_in(space) != nullptr; }

int max_workers(const SearchSpace& space, int common) {
  const auto* dimension = workers_in(space);
  if (dimension == nullptr) return common;
  if (const auto* interval = std::get_if<Interval>(&dimension->domain)) {
    if (!interval->is_whole || interval->low < 1 || interval->high > static_cast<double>(max_ranks))
      refuse(*dimension, fmt::format("{} to {}", interval->low, interval->high));
    return static_cast<int>(interval->high) - 1;
  }
  std::int64_t max = dimension->condition ? common : 1;
  for (const auto& text : std::get<Choice>(dimension->domain).values) {
    const auto count = count_in(text);
    if (count < 1 || count > max_ranks) refuse(*dimension, text);
    max = std::max(max, count);
  }
  return static_cast<int>(max);
}

int workers_of(const Params& params, int common) {
  const auto found = params.find(std::string(workers_key));
  return found == params.end() ? common : static_cast<int>(count_in(found->second));
}

}  // namespace trainrt::tune
