#pragma once
#include <span>
#include <string>

#include "rundir/records/attempt_record.hpp"

namespace trainrt::rundir {

/// Returns the text that identifies the error in `why` (AttemptRecord::why), without process numbers, ranks and attempts,
/// if the error is probably a mistake in the train function:
/// - an uncaught Python exception such as TypeError, ValueError or KeyError
/// - metrics, a State or calls that differ between the ranks
///
/// Returns "" for all other errors, which may be temporary: failures of storage, networks and GPUs, lack of memory, killed
/// processes. Pure function.
std::string mistake_in(const std::string& why);

/// Returns whether the last two of `attempts` failed with the same mistake_in() at the same step and report, and the last
/// one has saved no newer checkpoint. Another attempt would then fail in the same way. Pure function.
bool repeats_mistake(std::span<const AttemptRecord> attempts);

/// Returns a description of the failures if repeats_mistake() is true for the newest attempts of the run in `run_dir`: "at
/// step 12: TypeError: ...". Otherwise returns "". Errors while reading records count as "".
std::string repeated_mistake(const std::string& run_dir) noexcept;

}  // namespace trainrt::rundir
