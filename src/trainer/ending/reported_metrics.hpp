#pragma once
#include <trainrt/result.hpp>

#include "metrics/record.hpp"

namespace trainrt::trainer {

/// Returns the values of a metric record by key, in the public type that Result and Callback use.
ReportedMetrics reported_metrics(const metrics::Record& record);

}  // namespace trainrt::trainer
