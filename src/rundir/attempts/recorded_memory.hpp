#pragma once
#include <string>

#include "rundir/records/attempt_record.hpp"

namespace trainrt::rundir {

/// Returns the number of the newest attempt, up to and including `attempt`, whose rank statuses contain the memory of at
/// least one rank; 0: none, or unknown. Only the statuses of `attempt` itself are read, because its record has the result
/// for all attempts before it (AttemptRecord::memory_attempt).
int attempt_with_memory(const std::string& run_dir, const AttemptRecord& attempt);

}  // namespace trainrt::rundir
