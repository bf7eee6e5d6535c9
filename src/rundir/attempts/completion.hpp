#pragma once
#include <optional>
#include <string>

#include "rundir/records/run_record.hpp"

namespace trainrt::rundir {

/// Returns the checkpoint that holds the end of a finished run: RunRecord::completed_by, or the last checkpoint of the
/// newest attempt if the record is older than that field. Returns nothing if the run is not finished or has no checkpoint.
std::optional<RunRecord::Completion> completion_of(const std::string& run_dir, const RunRecord& record);

/// Returns why the end of a finished run is missing: "the run finished with checkpoint_000005 (iteration 6), which cannot
/// be read: ..."; "" if it is present, or if the run is not finished. Reads the manifest, but no data.
std::string missing_end(const std::string& run_dir, const RunRecord& record);

}  // namespace trainrt::rundir
