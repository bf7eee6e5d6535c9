#pragma once
#include <cstdint>
#include <string>

#include "rundir/records/run_record.hpp"

namespace trainrt::view {

/// Returns a warning if a file system that removes files after `purge_days` days will remove the newest checkpoint of the
/// run within a week, or within half of `purge_days` if that is less than two weeks; else "". Returns "" if `purge_days` is
/// 0 or there is no checkpoint. The age of a checkpoint is that of its manifest.json.
std::string purge_warning(const std::string& run_dir, std::int64_t purge_days);

/// Does the same with storage.purge_days of the run's record.
std::string purge_warning(const std::string& run_dir, const rundir::RunRecord& record);

}  // namespace trainrt::view
