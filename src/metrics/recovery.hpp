#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "metrics/record.hpp"

namespace trainrt::metrics {

/// Returns records 1 to `keep` of a run, of which result.json has only `found`. Missing records are read from metrics.h5,
/// which is exact, and then from progress.csv, and a warning is logged. Returns `found` unchanged if no record is missing,
/// or if these files do not have all missing ones.
std::vector<Record> with_recovered(std::vector<Record> found, std::int64_t keep, const std::string& run_dir);

}  // namespace trainrt::metrics
