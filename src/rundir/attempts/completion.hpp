#pragma once
#include <optional>
#include <string>

#include "rundir/records/run_record.hpp"

namespace trainrt::rundir {

/// Returns the last checkpoint of a finished run: RunRecord::completed_by, or the last checkpoint of the newest attempt if
/// the record was written by a version without that field. Returns nothing if the run is not finished or has saved no
/// checkpoint.
std::optional<RunRecord::Completion> completion_of(const std::string& run_dir, const RunRecord& record);

/// Checks whether the last checkpoint of a finished run exists. Returns the problem as a text if not: "the run finished
/// with checkpoint_000005 (iteration 6), which cannot be read: ...". Returns "" if the checkpoint exists, or if the run is
/// not finished. Reads the checkpoint's manifest, but no data.
std::string missing_end(const std::string& run_dir, const RunRecord& record);

}  // namespace trainrt::rundir
