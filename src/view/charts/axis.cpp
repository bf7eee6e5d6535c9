#include "view/charts/axis.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace trainrt::view {

namespace {

constexpr std::size_t min_ticks = 3;

/// Returns the number nearest to `step` that is 1, 2, 5 or 10 times a power of ten.
double rounded_step(double step) {
  const double power = std::pow(10, std::floor(std::log10(step))), factor = step / power;
  return (factor < 1.5 ? 1 : factor < 3.5 ? 2 : factor < 7.5 ? 5 : 10) * power;
}

/// Returns all numbers F * 10^N (F in `factors`, N an integer) from 10^`low` to 10^`high`.
std::vector<double> powers_of_ten(double low, double high, std::initializer_list<double> factors) {
  std::vector<double> values;
  for (double power = std::floor(low); power <= high; ++power)
    for (const double factor : factors) {
      const double value = factor * std::pow(10, power), scaled = std::log10(value);
      if (scaled >= low - 1e-9 && scaled <= high + 1e-9) values.push_back(value);
    }
  return values;
}

std::vector<double> logarithmic_ticks(double low, double high, std::size_t count) {
  auto values = powers_of_ten(low, high, {1});
  if (values.size() >= min_ticks) {
    const auto every = (values.size() + count) / (count + 1);
    std::vector<double> kept;
    for (std::size_t i = 0; i < values.size(); i += every) kept.push_back(values[i]);
    return kept.size() >= min_ticks ? kept : values;
  }
  values = powers_of_ten(low, high, {1, 2, 5});
  return values.size() >= min_ticks ? values : tick_values(std::pow(10, low), std::pow(10, high), count);
}

/// Returns the number of significant digits in the labels of ticks: at least six, and as many as the labels need to
/// differ.
int label_digits(const std::vector<double>& values) {
  if (values.size() < 2) return 6;
  const double largest = std::max(std::abs(values.front()), std::abs(values.back()));
  const double step = values[1] - values[0];
  return std::clamp(static_cast<int>(std::ceil(std::log10(largest / step))) + 1, 6, 15);
}

}  // namespace

std::vector<double> tick_values(double low, double high, std::size_t count) {
  if (!std::isfinite(low) || !std::isfinite(high) || !(high > low)) return {};
  std::vector<double> values;
  for (auto parts = count; values.size() < min_ticks && parts < count + 8; ++parts) {
    values.clear();
    const double step = rounded_step((high - low) / static_cast<double>(parts));
    for (auto i = std::ceil(low / step - 1e-9); i * step <= high + 1e-9 * step && values.size() < 20; ++i) {
      const double value = i * step + 0.0;                   // + 0.0 turns -0 into 0
      if (!values.empty() && value <= values.back()) break;  // the step is below the precision of a double
      values.push_back(value);
    }
  }
  return values;
}

double Axis::scaled(double value) const { return is_logarithmic_ ? std::log10(value) : value; }

bool Axis::can_show(double value) const { return std::isfinite(value) && (!is_logarithmic_ || value > 0); }

void Axis::include(double value) {
  if (!can_show(value)) return;
  low_ = std::min(low_, scaled(value));
  high_ = std::max(high_, scaled(value));
}

void Axis::pad(double padding) {
  double margin = padding * (high_ - low_);
  if (low_ == high_) margin = is_logarithmic_ ? 0.5 : low_ == 0 ? 1 : std::abs(low_) * 0.1;
  low_ -= margin;
  high_ += margin;
}

std::vector<Tick> Axis::ticks(std::size_t count) const {
  const auto values = is_logarithmic_ ? logarithmic_ticks(low_, high_, count) : tick_values(low_, high_, count);
  const int digits = label_digits(values);
  std::vector<Tick> ticks;
  for (const double value : values) ticks.push_back({value, fmt::format("{:.{}g}", value, digits)});
  return ticks;
}

std::pair<Axis, Axis> axes_of(const Chart& chart, std::span<const std::vector<double>> values, bool log_x, bool log_y) {
  Axis x(log_x), y(log_y);
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    const auto& places = chart.series[i].x.front();
    for (std::size_t j = 0; j < places.size(); ++j)
      if (x.can_show(places[j]) && y.can_show(values[i][j])) {
        x.include(places[j]);
        y.include(values[i][j]);
      }
  }
  if (chart.is_stacked) y.include(0);
  x.pad(0);
  y.pad(0.04);
  return {x, y};
}

}  // namespace trainrt::view
