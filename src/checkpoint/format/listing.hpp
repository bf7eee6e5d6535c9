#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/format/manifest.hpp"

namespace trainrt::checkpoint {

/// Returns the numbers of all checkpoint directories of a run, intact or damaged, in ascending order; an empty list if the
/// run directory does not exist.
std::vector<std::int64_t> numbers_in(const std::string& run_dir);

/// Returns the metadata of all committed checkpoints of a run, oldest first. Metrics from validations of the checkpoints
/// are included (with_validation()). Checkpoints with a damaged manifest are omitted. Not collective.
std::vector<Meta> list(const std::string& run_dir);

/// Returns the metadata of the newest checkpoint of a run that has an intact manifest; nullopt if no such checkpoint
/// exists. Metrics from a validation of the checkpoint are not included. Not collective.
std::optional<Meta> newest(const std::string& run_dir);

/// Returns the highest number of all checkpoint directories of a run, intact or damaged; -1 if the run has no checkpoints.
std::int64_t highest_number(const std::string& run_dir);

/// Returns the number of a run's next checkpoint, `highest` + 1, where `highest` is the highest number so far. Throws
/// UsageError if `highest` is 10^15 or more. No run saves that many checkpoints, so the message advises to rename the
/// directory with this number in `run_dir`.
std::int64_t number_after(std::int64_t highest, const std::string& run_dir);

}  // namespace trainrt::checkpoint
