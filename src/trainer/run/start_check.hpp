#pragma once
#include <cstdint>
#include <map>
#include <string>

#include "config/run_spec.hpp"
#include "trainer/records/preparation.hpp"
#include "trainer/run/run.hpp"

namespace trainrt::trainer {

/// The result of check_start(), which `trainrt check` prints.
struct CheckedStart {
  Preparation found;
  /// By NAME of [data.NAME]: a description of the dataset, "800 samples: x f32[3]", if keys of the section make new samples
  /// from those in the files.
  std::map<std::string, std::string> made;
};

/// Maximum number of samples of each dataset that a train function's check reads.
constexpr std::uint64_t checked_samples = 1000;

/// Executes the start of a run up to the train function, in this process alone, and then calls the function's check
/// (TrainCall::check) instead of the function. Does not call it for a finished run. Creates no files or directories that
/// remain. Throws the same errors as the start.
CheckedStart check_start(const config::RunSpec& spec, const TrainCall& function);

}  // namespace trainrt::trainer
