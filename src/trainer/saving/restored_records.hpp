#pragma once
#include <string>

#include "checkpoint/format/manifest.hpp"
#include "rundir/records/run_record.hpp"

namespace trainrt::trainer {

/// Changes the records in `run_dir` so that they agree with the checkpoint `restored`. The records were copied from the
/// mirror `from`, to which they were copied while the run continued. `record` is the content of run.json.
/// - An attempt without an end gets one.
/// - If no attempt has a record, one is written.
/// - A run that finished with another checkpoint becomes unfinished.
///
/// Logs a warning if the run had saved a newer checkpoint.
void fit_records(const std::string& run_dir, const rundir::RunRecord& record, const checkpoint::Meta& restored,
                 const std::string& from);

}  // namespace trainrt::trainer
