#pragma once
#include <cstdint>
#include <string>

#include "rundir/records/run_record.hpp"

namespace trainrt::view {

/// Returns a warning if the newest checkpoint of the run is so old that a file system which removes files of `purge_days`
/// days removes it within a week (within half of `purge_days`, if those are less than two weeks); else "". Also "" if
/// `purge_days` is 0, or there is no checkpoint. The age is that of its manifest.json, as the file system counts it.
std::string purge_warning(const std::string& run_dir, std::int64_t purge_days);

/// The same with storage.purge_days of the run's record.
std::string purge_warning(const std::string& run_dir, const rundir::RunRecord& record);

}  // namespace trainrt::view
