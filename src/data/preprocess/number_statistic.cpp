#include "data/preprocess/number_statistic.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "data/preprocess/numbers.hpp"

namespace trainrt::data {

double NumberStatistic::deviation() const {
  return count_ > 0 ? std::sqrt(ExactSum::variance(sum_, squares_, count_)) : nan;
}

void NumberStatistic::see(const Table::Column& column) {
  double least = std::numeric_limits<double>::infinity(), largest = -least;
  with_numbers(column.field.dtype, column.values, [&](auto values) {
    there_.resize(values.size());
    auto* next = there_.data();
    for (const auto each : values) {
      const auto value = static_cast<double>(each) + 0.0;  // never -0.0, whichever zero comes first
      if (std::isnan(value)) continue;
      least = std::min(least, value);
      largest = std::max(largest, value);
      *next++ = value;
    }
    there_.resize(static_cast<std::size_t>(next - there_.data()));
  });
  if (there_.empty()) return;
  if (std::isinf(least) || std::isinf(largest)) throw UsageError("it holds an infinite value");
  count_ += there_.size();
  least_ = std::min(least_, least);
  largest_ = std::max(largest_, largest);
  if (has_moments_) ExactSum::add_moments(there_, std::max(std::fabs(least), std::fabs(largest)), sum_, squares_);
}

void NumberStatistic::write(PackedWriter& into) const {
  into.number(count_);
  into.number(std::bit_cast<std::uint64_t>(least_));
  into.number(std::bit_cast<std::uint64_t>(largest_));
  if (!has_moments_) return;
  sum_.write(into);
  squares_.write(into);
}

void NumberStatistic::merge(PackedReader& from) {
  count_ += from.number();
  least_ = std::min(least_, std::bit_cast<double>(from.number()));
  largest_ = std::max(largest_, std::bit_cast<double>(from.number()));
  if (!has_moments_) return;
  sum_.merge(from);
  squares_.merge(from);
}

}  // namespace trainrt::data
