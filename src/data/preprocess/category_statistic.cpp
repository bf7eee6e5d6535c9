#include "data/preprocess/category_statistic.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "data/preprocess/numbers.hpp"

namespace trainrt::data {

void CategoryStatistic::count(const Category& value, std::uint64_t times) {
  const auto* const real = std::get_if<double>(&value);
  if (real != nullptr && !std::isfinite(*real)) throw UsageError("it holds an infinite value");
  const auto [at, is_new] = counts_.try_emplace(value, 0);
  at->second += times;
  if (!is_new) return;
  constexpr std::uint64_t bytes_of_entry = 64, most_bytes = 1 << 30;
  const auto* const text = std::get_if<std::string>(&value);
  bytes_ += bytes_of_entry + (text != nullptr ? text->size() : 0);
  if (counts_.size() > most || bytes_ > most_bytes)
    throw UsageError(fmt::format("it has more than {} different values: they are no categories", counts_.size() - 1));
}

void CategoryStatistic::see(const Table::Column& column) {
  if (of_ == Of::tokens) {
    for (std::size_t i = 0; i < column.ends.size(); ++i)
      for (const auto token : tokens_of(text_at(column, i))) count(std::string(token), 1);
    return;
  }
  for_each_category(column, [this](std::size_t, const Category* value) {
    if (value != nullptr && of_ == Of::values_if_there) {
      const auto* const text = std::get_if<std::string>(value);
      if (text != nullptr && text->empty()) return;
    }
    if (value != nullptr) return count(*value, 1);
    if (of_ != Of::values_if_there)
      throw UsageError("it has missing values (NaN), which are no category: fill them first, by SimpleImputer");
  });
}

void CategoryStatistic::write(PackedWriter& into) const {
  into.number(counts_.size());
  for (const auto& [value, count] : counts_) {
    data::write(into, value);
    into.number(count);
  }
}

void CategoryStatistic::merge(PackedReader& from) {
  for (auto left = from.number(); left > 0; --left) {
    const auto value = read_category(from);
    count(value, from.number());
  }
}

std::vector<CategoryStatistic::Counted> CategoryStatistic::by_value() const {
  std::vector<Counted> found;
  found.reserve(counts_.size());
  for (const auto& [value, count] : counts_) found.push_back({value, count});
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return is_before(a.value, b.value); });
  return found;
}

std::vector<CategoryStatistic::Counted> CategoryStatistic::most_frequent(std::size_t limit) const {
  auto found = by_value();
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.count > b.count; });
  if (found.size() > limit) found.resize(limit);
  return found;
}

}  // namespace trainrt::data
