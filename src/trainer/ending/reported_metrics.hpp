#pragma once
#include <trainrt/result.hpp>

#include "metrics/record.hpp"

namespace trainrt::trainer {

/// Converts a record to the public type.
ReportedMetrics reported_metrics(const metrics::Record& record);

}  // namespace trainrt::trainer
