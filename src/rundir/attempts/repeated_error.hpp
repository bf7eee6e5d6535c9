#pragma once
#include <span>
#include <string>

#include "rundir/records/attempt_record.hpp"

namespace trainrt::rundir {

/// Returns whether the last two of `attempts` failed with the same mistake (AttemptRecord::mistake) at the same step and
/// report, and the last one has saved no newer checkpoint. Another attempt would then fail in the same way. If the ranks
/// make different calls, only the kind of the mistake is compared, since its text depends on the rank that reports it.
/// Records of older versions have no mistake. Pure function.
bool repeats_mistake(std::span<const AttemptRecord> attempts);

/// Returns a description of the failures if repeats_mistake(attempts) is true, otherwise "". Pure function. Examples:
/// - "failed 3 times in the same way at step 12"
/// - "failed twice in the same way after report 2" if the attempts made no step
/// - "failed twice in the same way" if they made no step and no report
std::string repetition_in_words(std::span<const AttemptRecord> attempts);

/// Returns repetition_in_words() of the newest attempts of the run in `run_dir`; "" if their records cannot be read.
std::string repeated_mistake(const std::string& run_dir) noexcept;

}  // namespace trainrt::rundir
