#pragma once
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
};

/// total / count over all ranks: `report({{"accuracy", ratio(correct, seen)}})` weighs each rank by what it saw.
inline Number ratio(double total, double count) { return Number{count > 0 ? total / count : 0.0, Reduce::mean, count}; }
inline Number sum(double value) { return Number{value, Reduce::sum, 1}; }
inline Number min(double value) { return Number{value, Reduce::min, 1}; }
inline Number max(double value) { return Number{value, Reduce::max, 1}; }

/// A number, or a text (rank 0's is kept).
class MetricValue {
 public:
  MetricValue(double v) : value_(Number{v}) {}
  MetricValue(float v) : value_(Number{static_cast<double>(v)}) {}
  MetricValue(int v) : value_(Number{static_cast<double>(v)}) {}
  MetricValue(long v) : value_(Number{static_cast<double>(v)}) {}
  MetricValue(long long v) : value_(Number{static_cast<double>(v)}) {}
  MetricValue(unsigned long v) : value_(Number{static_cast<double>(v)}) {}
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
