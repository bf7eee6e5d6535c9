#include "frameworks/program/metrics_message.hpp"

#include <limits>
#include <string>

#include <fmt/format.h>

#include "frameworks/program/fields.hpp"

namespace trainrt::program {

namespace {

MetricValue metric_from(const std::string& name, const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_null()) return std::numeric_limits<double>::quiet_NaN();
  if (value.is_boolean()) return value.get<bool>() ? 1 : 0;
  const auto what = fmt::format("the metric '{}'", name);
  if (!value.is_object() || !value.contains("value")) return real_from(value, what);
  Number number{.value = real_from(value["value"], what)};
  if (value.contains("reduce"))
    number.reduce = choice_field<Reduce>(
        value, "reduce", {{"mean", Reduce::mean}, {"sum", Reduce::sum}, {"min", Reduce::min}, {"max", Reduce::max}});
  if (value.contains("weight")) number.weight = real_from(value["weight"], what);
  return number;
}

}  // namespace

Metrics metrics_from(const Json& body) {
  Metrics metrics;
  for (const auto& [name, value] : field(body, "metrics", Json::value_t::object).items())
    metrics.emplace_back(name, metric_from(name, value));
  return metrics;
}

}  // namespace trainrt::program
