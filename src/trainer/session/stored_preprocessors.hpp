#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace trainrt::trainer {

/// Returns the fitted preprocessors of each dataset, as a JSON object, from the metadata of the checkpoint in directory
/// `checkpoint`. Returns "" if the checkpoint has no preprocessors. Throws Error if the checkpoint's manifest cannot be
/// read.
std::string preprocessors_in(const std::string& checkpoint);

/// Returns preprocessors_in() of the newest checkpoint in `run_dir` that has a readable manifest. Returns "" if no
/// checkpoint has one. `numbers` are the numbers of the checkpoints in `run_dir`, ascending.
std::string newest_preprocessors(const std::string& run_dir, const std::vector<std::int64_t>& numbers);

}  // namespace trainrt::trainer
