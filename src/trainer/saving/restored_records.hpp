#pragma once
#include <string>

#include "checkpoint/format/manifest.hpp"
#include "rundir/records/run_record.hpp"

namespace trainrt::trainer {

/// Changes the records in `run_dir`, which were copied from the mirror `from`, so that they agree with the checkpoint
/// `restored`. The records may describe work after that checkpoint. `record` is the content of run.json.
/// - Each attempt without a recorded end gets an end.
/// - If no attempt has a record, the record of one attempt is written.
/// - A run that finished with another checkpoint becomes unfinished.
///
/// Logs a warning if the run saved a newer checkpoint than `restored`.
void fit_records(const std::string& run_dir, const rundir::RunRecord& record, const checkpoint::Meta& restored,
                 const std::string& from);

}  // namespace trainrt::trainer
