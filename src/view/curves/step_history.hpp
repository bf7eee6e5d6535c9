#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "view/curves/step_windows.hpp"

namespace trainrt::view {

/// The step times of all attempts of a run.
struct StepHistory {
  std::vector<StepWindow> windows;  ///< of all attempts, oldest first
  std::size_t read_every = 1;       ///< n if only every n-th window was read, due to the size of the files
};

/// Reads the step times of all attempts of a run. Invalid lines are skipped. If the files have more than 128 MiB in
/// total, only every n-th line is read. Throws StorageError if a file cannot be read.
StepHistory step_history_of(const std::string& run_dir);

}  // namespace trainrt::view
