#pragma once
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace trainrt {

/// The reduction that combines all ranks' numbers of a metric into one number.
enum class Reduce { mean, sum, min, max };

/// A rank's number of a metric, and the operation that combines the ranks' numbers. The mean is weighted: sum(value *
/// weight) / sum(weight). If the number of any rank is NaN, the result is NaN, unless the weight of that number is 0.
struct Number {
  double value = 0;
  Reduce reduce = Reduce::mean;
  double weight = 1;  ///< weight of this rank's number in the mean, 0 or more
  /// The number as an integer, if it was given as an integer. The sum, minimum or maximum of such numbers is reported as an
  /// integer; a mean is always reported as a real number.
  std::optional<std::int64_t> whole = {};
};

/// Returns a Number for an integer or bool. If the value does not fit into a signed 64-bit integer, it is reported as a
/// real number.
template <std::integral Whole>
Number whole_number(Whole value, Reduce reduce = Reduce::mean) {
  Number number{static_cast<double>(value), reduce, 1, static_cast<std::int64_t>(value)};
  if (value > Whole{} && *number.whole < 0) number.whole.reset();
  return number;
}

/// Returns a metric that becomes (sum of all ranks' `total`) / (sum of all ranks' `count`), such as an accuracy:
/// `report({{"accuracy", ratio(correct, seen)}})`. `count` must be 0 or more; the result is NaN if all counts are 0.
inline Number ratio(double total, double count) { return Number{count > 0 ? total / count : 0.0, Reduce::mean, count}; }
/// Returns a metric that is summed over the ranks.
inline Number sum(double value) { return Number{value, Reduce::sum, 1}; }
/// Returns a metric that becomes the minimum over the ranks.
inline Number min(double value) { return Number{value, Reduce::min, 1}; }
/// Returns a metric that becomes the maximum over the ranks.
inline Number max(double value) { return Number{value, Reduce::max, 1}; }
template <std::integral Whole>
Number sum(Whole value) {
  return whole_number(value, Reduce::sum);
}
template <std::integral Whole>
Number min(Whole value) {
  return whole_number(value, Reduce::min);
}
template <std::integral Whole>
Number max(Whole value) {
  return whole_number(value, Reduce::max);
}

/// The value of a metric: a number, which is combined over the ranks, or a string, of which rank 0's is reported.
class MetricValue {
 public:
  MetricValue(double v) : value_(Number{v}) {}
  MetricValue(float v) : value_(Number{static_cast<double>(v)}) {}
  template <std::integral Whole>
  MetricValue(Whole v) : value_(whole_number(v)) {}
  MetricValue(Number n) : value_(n) {}
  MetricValue(std::string text) : value_(std::move(text)) {}
  MetricValue(const char* text) : value_(std::string(text)) {}

  const std::variant<Number, std::string>& get() const { return value_; }

 private:
  std::variant<Number, std::string> value_;
};

/// The metrics of a report: pairs of name and value, in the order in which output files list them. Names must be unique;
/// names that start with "_" are reserved.
using Metrics = std::vector<std::pair<std::string, MetricValue>>;

}  // namespace trainrt
