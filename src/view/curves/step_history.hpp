#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "view/curves/step_windows.hpp"

namespace trainrt::view {

struct StepHistory {
  std::vector<StepWindow> windows;  ///< of all attempts, oldest first
  std::size_t read_every = 1;       ///< of more lines than can be held one of so many was read
};

/// The windows of a run directory. Lines that cannot be read are passed over; of files that are very long together some
/// lines are read, evenly. None if nobody wrote any.
StepHistory step_history_of(const std::string& run_dir);

}  // namespace trainrt::view
