#pragma once
#include <cstdint>
#include <map>
#include <string>

#include "config/run_spec.hpp"
#include "trainer/records/preparation.hpp"
#include "trainer/run/run.hpp"

namespace trainrt::trainer {

/// What `trainrt check` has found of a start.
struct CheckedStart {
  Preparation found;
  /// The samples that keys of [data.NAME] make of those in its files, in words, by NAME: "800 samples: x f32[3]". Only of
  /// sections with such keys.
  std::map<std::string, std::string> made;
};

/// Samples of each dataset that a train function's check reads at most.
constexpr std::uint64_t checked_samples = 1000;

/// Does what a start does up to its train function, in this process alone, and then calls the function's check (TrainCall).
/// A run that has finished is left alone. Nothing remains of it. Throws what the start would throw, with the same words.
CheckedStart check_start(const config::RunSpec& spec, const TrainCall& function);

}  // namespace trainrt::trainer
