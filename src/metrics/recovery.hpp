#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "metrics/record.hpp"

namespace trainrt::metrics {

/// Restores lost lines of result.json: returns the records of iterations 1 to `keep` of a run. `found` has the records that
/// result.json still contains. Missing records are read from metrics.h5, which is exact, and then from progress.csv, and a
/// warning is logged. Returns `found` unchanged if no record is missing, or if these files do not have all missing records.
std::vector<Record> with_recovered(std::vector<Record> found, std::int64_t keep, const std::string& run_dir);

}  // namespace trainrt::metrics
