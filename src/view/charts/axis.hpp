#pragma once
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "view/charts/chart.hpp"

namespace trainrt::view {

struct Tick {
  double value = 0;
  std::string label;
};

/// Maps the values on an axis of a chart to positions from 0 to 1, on a linear or a logarithmic scale.
class Axis {
 public:
  explicit Axis(bool is_logarithmic) : is_logarithmic_(is_logarithmic) {}
  /// Extends the range of the axis to `value`. A value for which can_show() is false is ignored.
  void include(double value);
  /// Extends both ends of the range by `padding` times the length of the range. A range of a single value is widened,
  /// too.
  void pad(double padding);

  /// Returns whether include() was called with a value that can be drawn.
  bool has_values() const { return low_ <= high_; }
  /// Returns whether `value` is finite and, for a logarithmic axis, positive.
  bool can_show(double value) const;
  double position(double value) const { return (scaled(value) - low_) / (high_ - low_); }
  /// Returns the ticks of the axis: about `count`, and at least three. On a linear axis, the values of the ticks are
  /// multiples of 1, 2 or 5 times a power of ten.
  std::vector<Tick> ticks(std::size_t count) const;

 private:
  double scaled(double value) const;

  bool is_logarithmic_;
  double low_ = std::numeric_limits<double>::infinity(),
         high_ = -low_;  ///< range of the values, or of their logarithms on a logarithmic axis
};

/// Returns the x-axis and the y-axis that show all points of `chart`. `values` is the result of drawn_values(chart).
std::pair<Axis, Axis> axes_of(const Chart& chart, std::span<const std::vector<double>> values, bool log_x, bool log_y);

/// Returns the values of the ticks of a linear axis from `low` to `high`: about `count`, and at least three, multiples
/// of 1, 2 or 5 times a power of ten. Returns an empty vector unless `low` < `high`. Pure function.
std::vector<double> tick_values(double low, double high, std::size_t count);

}  // namespace trainrt::view
