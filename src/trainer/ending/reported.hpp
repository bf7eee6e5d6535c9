#pragma once
#include <trainrt/result.hpp>

#include "metrics/record.hpp"

namespace trainrt::trainer {

/// A record as programs get it.
ReportedMetrics reported(const metrics::Record& record);

}  // namespace trainrt::trainer
