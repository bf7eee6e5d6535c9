#pragma once
#include <cstdint>
#include <string>

#include "rundir/records/run_record.hpp"

namespace trainrt::view {

/// Returns a warning if the file system will soon remove the newest checkpoint of the run; else "". The file system
/// removes files after `purge_days` days. Soon means within a week, or within half of `purge_days` days if that is
/// shorter. Returns "" if `purge_days` is 0 or there is no checkpoint. The age of a checkpoint is the age of its
/// manifest.json.
std::string purge_warning(const std::string& run_dir, std::int64_t purge_days);

/// Calls purge_warning() with the value of storage.purge_days in `record`.
std::string purge_warning(const std::string& run_dir, const rundir::RunRecord& record);

}  // namespace trainrt::view
