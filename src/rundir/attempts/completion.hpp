#pragma once
#include <optional>
#include <string>

#include "rundir/records/run_record.hpp"

namespace trainrt::rundir {

/// Returns the checkpoint that holds the end of a finished run: RunRecord::completed_by, or, of an older record, what the
/// newest attempt had saved. Nothing if the run is not finished, or took no checkpoint.
std::optional<RunRecord::Completion> completion_of(const std::string& run_dir, const RunRecord& record);

/// Returns why a run whose record says that it finished does not hold its end: "the run finished with checkpoint_000005
/// (iteration 6), which cannot be read: ..."; "" if it does, or is in another state. Reads the manifest, no data.
std::string missing_end(const std::string& run_dir, const RunRecord& record);

}  // namespace trainrt::rundir
