#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/format/manifest.hpp"

namespace trainrt::checkpoint {

/// Returns the numbers of all checkpoint directories of a run, intact or damaged, in ascending order. Returns an empty list
/// if the run directory does not exist.
std::vector<std::int64_t> numbers_in(const std::string& run_dir);

/// Returns the metadata of all committed checkpoints of a run, oldest first, including metrics of their validations.
/// Checkpoints with damaged manifests are omitted. Not collective.
std::vector<Meta> list(const std::string& run_dir);

/// Returns the metadata of the newest checkpoint with an intact manifest, without metrics of its validation; nullopt if no
/// such checkpoint exists. Not collective.
std::optional<Meta> newest(const std::string& run_dir);

/// Returns the highest number of any checkpoint directory of the run, intact or damaged; -1 if the run has no checkpoints.
std::int64_t highest_number(const std::string& run_dir);

/// Returns the number of the next checkpoint, `highest` + 1. Throws UsageError if `highest` is 10^15 or more, which no run
/// reaches: something else must have created a directory of that name in `run_dir`.
std::int64_t number_after(std::int64_t highest, const std::string& run_dir);

}  // namespace trainrt::checkpoint
