#pragma once
#include <trainrt/result.hpp>

#include "metrics/record.hpp"

namespace trainrt::trainer {

/// Returns the values of a metric record by key, as Result and Callback pass them to users.
ReportedMetrics reported_metrics(const metrics::Record& record);

}  // namespace trainrt::trainer
