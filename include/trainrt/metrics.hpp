#pragma once
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace trainrt {

/// How the ranks' numbers become one.
enum class Reduce { mean, sum, min, max };

/// A number in a report. By default the mean over the ranks; with weights the weighted mean, sum(value*weight)/sum(weight).
struct Number {
  double value = 0;
  Reduce reduce = Reduce::mean;
  double weight = 1;
  /// The same, if it was given as a whole number: such a one is reported as it is, and so is a sum, min or max of such. A
  /// mean is a real.
  std::optional<std::int64_t> whole = {};
};

/// A number that is given as an int, a bool or the like; a real if it is beyond 64 bits with a sign.
template <std::integral Whole>
Number whole_number(Whole value, Reduce reduce = Reduce::mean) {
  Number number{static_cast<double>(value), reduce, 1, static_cast<std::int64_t>(value)};
  if (value > Whole{} && *number.whole < 0) number.whole.reset();
  return number;
}

/// total / count over all ranks: `report({{"accuracy", ratio(correct, seen)}})` weighs each rank by what it saw.
inline Number ratio(double total, double count) { return Number{count > 0 ? total / count : 0.0, Reduce::mean, count}; }
inline Number sum(double value) { return Number{value, Reduce::sum, 1}; }
inline Number min(double value) { return Number{value, Reduce::min, 1}; }
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

/// A number, or a text (rank 0's is kept).
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

/// Metrics by name, in the order given. Names starting with "_" are the runtime's own.
using Metrics = std::vector<std::pair<std::string, MetricValue>>;

}  // namespace trainrt
