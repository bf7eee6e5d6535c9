#pragma once
#include <optional>
#include <string>

#include <trainrt/result.hpp>

#include "tune/record/history.hpp"

namespace trainrt::tune {

/// Returns the names of the numbers in a report if none of them is `metric`; nullopt if the report has this metric.
/// Values of the runtime are omitted.
std::optional<MissingMetric> missing_metric_in(const ReportedMetrics& report, const std::string& metric);

/// Returns the error of a trial with a report without tune.metric.
std::string trial_error(const MissingMetric& missing);

/// Returns the error that ends a sweep if its trials do not report tune.metric. `origin`: file and line of the key, or
/// the Tuner that set it.
std::string sweep_error(const MissingMetric& missing, const std::string& origin);

/// Returns the advice for the user that follows sweep_error().
std::string metric_advice(const std::string& origin);

}  // namespace trainrt::tune
