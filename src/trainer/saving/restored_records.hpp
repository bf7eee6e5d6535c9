#pragma once
#include <string>

#include "checkpoint/format/manifest.hpp"
#include "rundir/records/run_record.hpp"

namespace trainrt::trainer {

/// Makes the records of a run in `run_dir`, copied from the mirror `from` while the run went on, agree with the checkpoint
/// that was copied with them. Attempts without an end get one, a missing record of an attempt is written, and a run that
/// finished with another checkpoint is not finished. Prints a warning if a newer checkpoint was saved.
/// `record`: what its run.json holds.
void fit_records(const std::string& run_dir, const rundir::RunRecord& record, const checkpoint::Meta& restored,
                 const std::string& from);

}  // namespace trainrt::trainer
