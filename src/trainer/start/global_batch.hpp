#pragma once
#include <optional>
#include <string>

#include "config/run_spec.hpp"
#include "rundir/records/run_record.hpp"

namespace trainrt::trainer {

/// The number of workers of a run's global batch, before and after a restart. A global batch has batch_size samples per
/// worker. A restart on another number of ranks changes the number of workers, unless config key scaling.on_resize is
/// keep_global_batch.
struct GlobalBatch {
  /// Number of workers of the newest checkpoint; 0: the run has no checkpoint. If the config sets scaling.on_resize to
  /// same_bits: number of workers of the run's first attempt; 0: a new run.
  int before = 0;
  int now = 0;  ///< number of workers of this attempt
  bool changes() const { return before > 0 && before != now; }
};

/// Returns the global batch of an attempt on `ranks` ranks. `recorded` is the content of run.json, or nothing for a new
/// run. Reads the run directory.
GlobalBatch global_batch(const config::RunSpec& spec, const std::optional<rundir::RunRecord>& recorded, int ranks);

/// Returns the number of workers of an existing run: the recorded number or, in records of older versions, the number of
/// ranks that saved the newest checkpoint or began the first attempt. Returns 0 if it is unknown.
int workers_of_run(const std::string& run_dir, const rundir::RunRecord& record);

/// Throws UsageError if the number of workers changes, unless config key scaling.on_resize is keep_global_batch or
/// keep_batch. The message has both sizes and the alternatives.
void require_same_global_batch(const config::RunSpec& spec, const GlobalBatch& batch);

/// Returns the size of a global batch for `workers` workers in words: "96 samples (32 for each of 3 workers)". The words
/// have no numbers of samples if [loop] has no batch_size.
std::string in_words(const config::RunSpec& spec, int workers);

}  // namespace trainrt::trainer
