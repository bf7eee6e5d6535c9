#include "tune/trials/missing_metric.hpp"

#include <vector>

#include <fmt/format.h>

#include "config/program_settings.hpp"
#include "core/text/text.hpp"

namespace trainrt::tune {

namespace {

bool is_of_tuner(const std::string& origin) { return origin.starts_with(config::origin_of_tuner); }

std::string numbers_in_words(const MissingMetric& missing) {
  if (missing.reported.empty()) return "no numbers";
  return join(missing.reported) + did_you_mean(missing.metric, missing.reported);
}

}  // namespace

std::optional<MissingMetric> missing_metric_in(const ReportedMetrics& report, const std::string& metric) {
  MissingMetric missing{metric, {}};
  for (const auto& [name, value] : report) {
    if (std::holds_alternative<std::string>(value)) continue;
    if (name == metric) return std::nullopt;
    if (!name.starts_with('_')) missing.reported.push_back(name);
  }
  return missing;
}

std::string trial_error(const MissingMetric& missing) {
  return fmt::format("[tune] metric = {}: the trial does not report it; it reports: {}", missing.metric,
                     numbers_in_words(missing));
}

std::string sweep_error(const MissingMetric& missing, const std::string& origin) {
  const auto setting =
      is_of_tuner(origin) ? fmt::format("TuneConfig(metric='{}')", missing.metric) : "[tune] metric = " + missing.metric;
  return fmt::format("{}{}{}: the trials do not report it; they report: {}", origin, origin.empty() ? "" : ": ", setting,
                     numbers_in_words(missing));
}

std::string metric_advice(const std::string& origin) {
  return fmt::format("Set {} to a metric that the trials report, and run the same {} again",
                     is_of_tuner(origin) ? "TuneConfig(metric=...)" : "tune.metric",
                     is_of_tuner(origin) ? "script" : "command");
}

}  // namespace trainrt::tune
