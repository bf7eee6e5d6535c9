#include "program/protocol/metrics_message.hpp"

#include <limits>
#include <string>

#include <fmt/format.h>

#include "program/protocol/fields.hpp"

namespace trainrt::program {

namespace {

Number number_from(const Json& value, const std::string& what) {
  if (value.is_boolean()) return whole_number(value.get<bool>());
  if (value.is_number_unsigned()) return whole_number(value.get<std::uint64_t>());
  if (value.is_number_integer()) return whole_number(value.get<std::int64_t>());
  return {.value = real_from(value, what)};
}

MetricValue metric_from(const std::string& name, const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_null()) return std::numeric_limits<double>::quiet_NaN();
  const auto what = fmt::format("the metric '{}'", name);
  if (!value.is_object() || !value.contains("value")) return number_from(value, what);
  auto number = number_from(value["value"], what);
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

DirectoryCheckpoint directory_from(const Json& body) {
  DirectoryCheckpoint directory;
  if (const auto given = body.find("directory"); given != body.end() && !given->is_null()) {
    directory.path = text_field(body, "directory");
    if (!directory.path.starts_with('/') || directory.path.find('\0') != std::string::npos)
      throw UsageError(fmt::format("train.program: the directory of a report must be an absolute path, not '{}'",
                                   directory.path.substr(0, directory.path.find('\0'))));
  }
  if (body.contains("directory_metadata"))
    directory.metadata = field(body, "directory_metadata", Json::value_t::object).dump();
  if (body.contains("validation")) directory.validation = field(body, "validation", Json::value_t::object).dump();
  return directory;
}

}  // namespace trainrt::program
