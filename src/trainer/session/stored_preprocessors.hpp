#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace trainrt::trainer {

/// Returns the preprocessors in the metadata of the checkpoint in directory `checkpoint`, as a JSON object: the fitted
/// preprocessors of each dataset. Returns "" if the checkpoint has no preprocessors. Throws Error if its manifest cannot be
/// read.
std::string preprocessors_in(const std::string& checkpoint);

/// Returns preprocessors_in() of the newest checkpoint in `run_dir` with a readable manifest; "" without such a checkpoint.
/// `numbers` are the numbers of the checkpoints in `run_dir`, ascending.
std::string newest_preprocessors(const std::string& run_dir, const std::vector<std::int64_t>& numbers);

}  // namespace trainrt::trainer
