#include "metrics/aggregate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <sstream>

#include <trainrt/error.hpp>

#include "io/files/digest.hpp"

namespace trainrt::metrics {

namespace {

/// Name of the metric if a Tune function reports or returns a number without a name (the name is that of Ray Tune).
constexpr std::string_view unnamed_metric = "_metric";

[[noreturn]] void bad_key(const std::string& key, const std::string& why) {
  throw UsageError("report: the metric '" + key + "' " + why);
}

void check_key(const std::string& key) {
  if (key.empty()) bad_key(key, "has an empty name");
  if (key.front() == '_' && key != unnamed_metric) bad_key(key, "starts with '_'; such names are reserved for the runtime");
  const auto is_control = [](unsigned char c) { return c < 0x20 || c == 0x7f; };
  if (std::ranges::any_of(key, is_control)) bad_key(key, "has a control character in its name");
}

/// Metrics sorted by key. The ranks may report their keys in different orders, so a sorted order is used on all ranks.
using Sorted = std::map<std::string_view, const MetricValue*>;

Sorted sorted(const Metrics& metrics) {
  Sorted by_key;
  for (const auto& [key, value] : metrics) {
    check_key(key);
    if (!by_key.emplace(key, &value).second) bad_key(key, "occurs twice");
  }
  return by_key;
}

const Number* number_in(const MetricValue& value) { return std::get_if<Number>(&value.get()); }

std::string_view kind_of(const MetricValue& value) {
  const auto* number = number_in(value);
  if (number == nullptr) return "text";
  static const std::map<Reduce, std::string_view> names{
      {Reduce::mean, "mean"}, {Reduce::sum, "sum"}, {Reduce::min, "min"}, {Reduce::max, "max"}};
  return names.at(number->reduce);
}

std::string describe(const Sorted& by_key) {
  std::string lines;
  for (const auto& [key, value] : by_key) (lines += kind_of(*value)).append(" ").append(key).append("\n");
  return lines;
}

void encode_mean(std::string_view key, const Number& number, Encoded& out) {
  if (!std::isfinite(number.weight) || number.weight < 0)
    bad_key(std::string(key), "has weight " + std::to_string(number.weight) + "; a weight must be finite and at least 0");
  out.sums.push_back(number.weight > 0 ? number.value * number.weight : 0.0);
  out.sums.push_back(number.weight);
}

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Integers that are added as double have an exact sum if their magnitudes add up to less than this limit.
constexpr double exact_below = static_cast<double>(max_exact_integer);

double magnitude(const Number& number) { return number.whole ? std::abs(number.value) : infinity; }

void encode_sum(const Number& number, Encoded& out) {
  out.sums.push_back(number.value);
  out.sums.push_back(magnitude(number));
}

/// Encodes a value whose minimum or maximum over the ranks is computed. NaN is counted separately, because its effect on a
/// maximum depends on the implementation of Op::max.
void encode_extreme(const Number& number, Encoded& out) {
  const bool nan = std::isnan(number.value);
  out.sums.push_back(nan ? 1.0 : 0.0);
  out.sums.push_back(magnitude(number) < exact_below ? 0 : infinity);
  const auto value = number.reduce == Reduce::max ? number.value : -number.value;
  out.maxima.push_back(nan ? -infinity : value);
}

/// Reads back the numbers that encode() wrote, in the same order, after the all-reduce.
class Decoder {
 public:
  explicit Decoder(const Encoded& reduced) : reduced_(reduced) {}

  Record::Value next(Reduce reduce) {
    const auto first = reduced_.sums.at(sum_++);
    const auto second = reduced_.sums.at(sum_++);
    switch (reduce) {
      case Reduce::mean:
        return second > 0 ? first / second : nan;
      case Reduce::sum:
        return of_kind(first, second);
      case Reduce::max:
        return of_kind(pick(first, reduced_.maxima.at(maximum_++)), second);
      case Reduce::min:
        return of_kind(pick(first, -reduced_.maxima.at(maximum_++)), second);
    }
    return nan;
  }

 private:
  static constexpr auto nan = std::numeric_limits<double>::quiet_NaN();
  static double pick(double nan_count, double value) { return nan_count > 0 ? nan : value; }
  static Record::Value of_kind(double value, double magnitudes) {
    return magnitudes < exact_below ? Record::Value(static_cast<std::int64_t>(value)) : Record::Value(value);
  }
  const Encoded& reduced_;
  std::size_t sum_ = 0;
  std::size_t maximum_ = 0;
};

/// Parses the result of describe_keys(); returns the kind ("mean", "sum" ...) of each metric, by key.
std::map<std::string, std::string> kinds_by_key(const std::string& described) {
  std::map<std::string, std::string> kinds;
  std::istringstream lines(described);
  for (std::string kind, key; std::getline(lines, kind, ' ') && std::getline(lines, key);) kinds.emplace(key, kind);
  return kinds;
}

}  // namespace

Encoded encode(const Metrics& metrics) {
  const auto by_key = sorted(metrics);
  Encoded out;
  out.schema_hash = std::stoull(io::digest_of(describe(by_key)).substr(0, 16), nullptr, 16);
  for (const auto& [key, value] : by_key) {
    const auto* number = number_in(*value);
    if (number == nullptr) continue;
    if (number->reduce == Reduce::mean)
      encode_mean(key, *number, out);
    else if (number->reduce == Reduce::sum)
      encode_sum(*number, out);
    else
      encode_extreme(*number, out);
  }
  return out;
}

Record decode(const Metrics& metrics, const Encoded& reduced, std::int64_t iteration) {
  Decoder decoder(reduced);
  std::map<std::string_view, Record::Value> values;
  for (const auto& [key, value] : sorted(metrics)) {
    if (const auto* number = number_in(*value))
      values.emplace(key, decoder.next(number->reduce));
    else
      values.emplace(key, std::get<std::string>(value->get()));
  }
  Record record{iteration, {}};
  for (const auto& [key, value] : metrics) record.values.emplace_back(key, values.at(key));
  return record;
}

Record unreduced_record(const Metrics& metrics, std::int64_t iteration) {
  static_cast<void>(sorted(metrics));
  Record record{iteration, {}};
  for (const auto& [key, value] : metrics) {
    const auto* number = number_in(value);
    if (number == nullptr)
      record.values.emplace_back(key, std::get<std::string>(value.get()));
    else
      record.values.emplace_back(key, number->whole ? Record::Value(*number->whole) : Record::Value(number->value));
  }
  return record;
}

std::string describe_keys(const Metrics& metrics) { return describe(sorted(metrics)); }

std::string first_difference(const std::vector<std::string>& described) {
  for (std::size_t rank = 1; rank < described.size(); ++rank) {
    if (described[rank] == described[0]) continue;
    const auto rank_name = "rank " + std::to_string(rank);
    const auto first = kinds_by_key(described[0]), other = kinds_by_key(described[rank]);
    for (const auto& [key, kind] : first) {
      const auto found = other.find(key);
      if (found == other.end()) return "the metric '" + key + "' is in the report of rank 0, but not of " + rank_name;
      if (found->second != kind)
        return "the metric '" + key + "' is a " + kind + " on rank 0 and a " + found->second + " on " + rank_name;
    }
    for (const auto& [key, kind] : other)
      if (!first.contains(key)) return "the metric '" + key + "' is in the report of " + rank_name + ", but not of rank 0";
  }
  return {};
}

}  // namespace trainrt::metrics
