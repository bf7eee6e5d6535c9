#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "metrics/record.hpp"

namespace trainrt::metrics {

/// The records 1 to `keep` of a run whose result.json holds only `found`: what it lacks is taken from metrics.h5, which is
/// exact, then from progress.csv, and that is said. `found` as it is if it lacks none, or if they lack some too.
std::vector<Record> with_recovered(std::vector<Record> found, std::int64_t keep, const std::string& run_dir);

}  // namespace trainrt::metrics
