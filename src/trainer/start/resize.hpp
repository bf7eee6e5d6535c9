#pragma once
#include <optional>
#include <string>

#include "config/run_spec.hpp"
#include "rundir/records/run_record.hpp"

namespace trainrt::trainer {

/// The global batches of the attempts of one run: batch_size samples for each of so many workers. A restart on another
/// number of ranks changes them, or not, as scaling.on_resize says.
struct GlobalBatch {
  int before = 0;  ///< workers that those of the newest checkpoint were made for; 0: there is none
  int now = 0;     ///< and those of this attempt
  bool changes() const { return before > 0 && before != now; }
};

/// `recorded`: what run.json said before this attempt took its number of workers into it, or nothing for a new run. The
/// run directory is read.
GlobalBatch global_batch(const config::RunSpec& spec, const std::optional<rundir::RunRecord>& recorded, int ranks);

/// Throws UsageError that names both global batches and the ways to go on, if scaling.on_resize refuses the change.
void require_same_global_batch(const config::RunSpec& spec, const GlobalBatch& batch);

/// "96 samples (32 for each of 3 workers)"; in words if [loop] has no batch_size.
std::string in_words(const config::RunSpec& spec, int workers);

}  // namespace trainrt::trainer
