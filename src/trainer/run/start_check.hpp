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
  /// Effects of the keys of datasets, by NAME of [data.NAME]. If keys make new samples from the samples in the files:
  /// "makes 800 samples: x f32[3]". If keys only change the fields: "batches have the fields x f32[3]". A dataset with
  /// the samples and fields of its files has no entry.
  std::map<std::string, std::string> results;
};

/// Maximum number of samples of each dataset that a train function's check reads.
constexpr std::uint64_t checked_samples = 1000;

/// Executes the start of a run in this process alone, and calls TrainCall::check instead of the train function. For a
/// finished run, the check is not called. Removes all files and directories that it has created. Throws the same errors as
/// the start.
CheckedStart check_start(const config::RunSpec& spec, const TrainCall& function);

}  // namespace trainrt::trainer
