#include "data/preprocess/quantile_statistic.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "data/preprocess/numbers.hpp"

namespace trainrt::data {

namespace {

constexpr int digit_bits = 16, passes = 4, key_bits = 64;
constexpr std::uint64_t top_bit = std::uint64_t{1} << (key_bits - 1);

/// Keys have the order of the numbers.
std::uint64_t sort_key_of(double value) {
  const auto pattern = std::bit_cast<std::uint64_t>(value + 0.0);  // one zero only
  return (pattern & top_bit) != 0 ? ~pattern : pattern | top_bit;
}

double number_of_key(std::uint64_t key) { return std::bit_cast<double>((key & top_bit) != 0 ? key ^ top_bit : ~key); }

/// Between a and b as NumPy's percentile() does.
double between(double a, double b, double part) {
  const auto difference = b - a;
  return part < 0.5 ? a + difference * part : b - difference * (1 - part);
}

}  // namespace

std::unique_ptr<Statistic> QuantileStatistic::fresh() const {
  auto made = std::make_unique<QuantileStatistic>(*this);
  for (auto& [prefix, counts] : made->counts_) counts.clear();
  return made;
}

void QuantileStatistic::see(double value) {
  if (std::isnan(value)) return;
  if (std::isinf(value)) throw UsageError("it holds an infinite value");
  const auto key = sort_key_of(value);
  const auto left = key_bits - digit_bits * (pass_ + 1);
  const auto found = counts_.find(pass_ == 0 ? 0 : key >> (left + digit_bits));
  if (found == counts_.end()) return;
  if (found->second.empty()) found->second.resize(1U << digit_bits);
  ++found->second[(key >> left) & ((1U << digit_bits) - 1)];
}

void QuantileStatistic::see(const Table::Column& column) {
  with_numbers(column.field.dtype, column.values, [this](auto values) {
    for (const auto value : values) see(static_cast<double>(value));
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
      if (digit >= counts.size()) throw Error("the counts of another rank are damaged");
      counts[digit] += from.number();
    }
  }
}

/// Which places in the order of all values are looked for.
void QuantileStatistic::choose_places() {
  const auto& counts = counts_.at(0);
  count_ = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  for (const auto quantile : quantiles_) {
    if (count_ == 0) return;
    const auto last = count_ - 1;
    const auto low = static_cast<std::uint64_t>(std::floor(quantile * static_cast<double>(last)));
    wanted_.push_back({0, std::min(low, last)});
    wanted_.push_back({0, std::min(low + 1, last)});
  }
}

bool QuantileStatistic::begin_next_pass() {
  if (pass_ == 0) choose_places();
  for (auto& [prefix, place] : wanted_) {
    const auto& counts = counts_.at(prefix);
    std::uint64_t digit = 0;
    for (; place >= counts[digit]; ++digit) place -= counts[digit];
    prefix = prefix << digit_bits | digit;
  }
  counts_.clear();
  if (++pass_ == passes || count_ == 0) return false;
  for (const auto& wanted : wanted_) counts_[wanted.prefix];
  return true;
}

std::vector<double> QuantileStatistic::values() const {
  std::vector<double> found(quantiles_.size(), std::numeric_limits<double>::quiet_NaN());
  for (std::size_t i = 0; count_ > 0 && i < found.size(); ++i) {
    const auto place = quantiles_[i] * static_cast<double>(count_ - 1);
    found[i] =
        between(number_of_key(wanted_[2 * i].prefix), number_of_key(wanted_[2 * i + 1].prefix), place - std::floor(place));
  }
  return found;
}

}  // namespace trainrt::data
