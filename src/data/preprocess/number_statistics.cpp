#include "data/preprocess/number_statistics.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include <trainrt/error.hpp>

#include "data/preprocess/numbers.hpp"

namespace trainrt::data {

namespace {

constexpr int digit_bits = 16, passes = 4, key_bits = 64;
constexpr std::uint64_t top_bit = std::uint64_t{1} << (key_bits - 1);

/// Maps a number to an unsigned integer. The integers have the same order as the numbers.
std::uint64_t sort_key_of(double value) {
  const auto pattern = std::bit_cast<std::uint64_t>(value + 0.0);  // -0.0 becomes 0.0
  return (pattern & top_bit) != 0 ? ~pattern : pattern | top_bit;
}

double number_of_key(std::uint64_t key) { return std::bit_cast<double>((key & top_bit) != 0 ? key ^ top_bit : ~key); }

/// Interpolates between a and b with the rounding of NumPy's percentile().
double between(double a, double b, double part) {
  const auto difference = b - a;
  return part < 0.5 ? a + difference * part : b - difference * (1 - part);
}

}  // namespace

double NumberStatistic::deviation() const { return count_ > 0 ? std::sqrt(moments_->variance(count_)) : nan; }

void NumberStatistic::add(const Table::Column& column) {
  with_numbers(column.field.dtype, column.values, [&](auto values) {
    for (const auto each : values) {
      const auto value = static_cast<double>(each) + 0.0;  // -0.0 becomes 0.0, so that the order of zeros does not matter
      if (std::isnan(value)) continue;
      ++count_;
      min_ = std::min(min_, value);
      max_ = std::max(max_, value);
      if (moments_) moments_->add(value);
    }
  });
  if (count_ > 0 && (std::isinf(min_) || std::isinf(max_))) throw UsageError(has_infinity);
}

void NumberStatistic::write(PackedWriter& into) const {
  into.number(count_);
  into.number(std::bit_cast<std::uint64_t>(min_));
  into.number(std::bit_cast<std::uint64_t>(max_));
  if (moments_) moments_->write(into);
}

void NumberStatistic::merge(PackedReader& from) {
  count_ += from.number();
  min_ = std::min(min_, std::bit_cast<double>(from.number()));
  max_ = std::max(max_, std::bit_cast<double>(from.number()));
  if (moments_) moments_->merge(from);
}

std::unique_ptr<Statistic> QuantileStatistic::fresh() const {
  auto made = std::make_unique<QuantileStatistic>(*this);
  for (auto& [prefix, counts] : made->counts_) counts.clear();
  return made;
}

void QuantileStatistic::add(double value) {
  if (std::isnan(value)) return;
  if (std::isinf(value)) throw UsageError(has_infinity);
  const auto key = sort_key_of(value);
  const auto left = key_bits - digit_bits * (pass_ + 1);
  const auto found = counts_.find(pass_ == 0 ? 0 : key >> (left + digit_bits));
  if (found == counts_.end()) return;
  if (found->second.empty()) found->second.resize(1U << digit_bits);
  ++found->second[(key >> left) & ((1U << digit_bits) - 1)];
}

void QuantileStatistic::add(const Table::Column& column) {
  with_numbers(column.field.dtype, column.values, [this](auto values) {
    for (const auto value : values) add(static_cast<double>(value));
  });
}

void QuantileStatistic::write(PackedWriter& into) const {
  for (const auto& [prefix, counts] : counts_) {
    into.number(static_cast<std::uint64_t>(counts.size() - std::count(counts.begin(), counts.end(), 0U)));
    std::uint64_t after = 0;
    for (std::size_t digit = 0; digit < counts.size(); ++digit) {
      if (counts[digit] == 0) continue;
      into.number(digit - after);
      into.number(counts[digit]);
      after = digit;
    }
  }
}

void QuantileStatistic::merge(PackedReader& from) {
  for (auto& [prefix, counts] : counts_) {
    counts.resize(1U << digit_bits);
    std::uint64_t digit = 0;
    for (auto left = from.number(); left > 0; --left) {
      digit += from.number();
      if (digit >= counts.size()) throw Error("the value counts that another rank sent are damaged");
      counts[digit] += from.number();
    }
  }
}

void QuantileStatistic::choose_targets() {
  const auto& counts = counts_.at(0);
  count_ = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  for (const auto quantile : quantiles_) {
    if (count_ == 0) return;
    const auto last = count_ - 1;
    const auto low = static_cast<std::uint64_t>(std::floor(quantile * static_cast<double>(last)));
    targets_.push_back({0, std::min(low, last)});
    targets_.push_back({0, std::min(low + 1, last)});
  }
}

bool QuantileStatistic::begin_next_pass() {
  if (pass_ == 0) choose_targets();
  for (auto& [prefix, rank] : targets_) {
    const auto& counts = counts_.at(prefix);
    std::uint64_t digit = 0;
    for (; rank >= counts[digit]; ++digit) rank -= counts[digit];
    prefix = prefix << digit_bits | digit;
  }
  counts_.clear();
  if (++pass_ == passes || count_ == 0) return false;
  for (const auto& target : targets_) counts_[target.prefix];
  return true;
}

std::vector<double> QuantileStatistic::values() const {
  std::vector<double> found(quantiles_.size(), std::numeric_limits<double>::quiet_NaN());
  for (std::size_t i = 0; count_ > 0 && i < found.size(); ++i) {
    const auto position = quantiles_[i] * static_cast<double>(count_ - 1);
    found[i] = between(number_of_key(targets_[2 * i].prefix), number_of_key(targets_[2 * i + 1].prefix),
                       position - std::floor(position));
  }
  return found;
}

}  // namespace trainrt::data
