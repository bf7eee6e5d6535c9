#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rundir/attempts/meter.hpp"
#include "rundir/records/attempt_record.hpp"

namespace trainrt::trainer {

/// A function object that returns the expected time until the run is complete, as text. The time is computed from all
/// attempts so far (rundir/usage/forecast.hpp). The records of earlier attempts are read once. Not thread-safe.
class TimeLeft {
 public:
  /// `meter` must outlive this object.
  TimeLeft(std::string run_dir, const rundir::Meter& meter) : run_dir_(std::move(run_dir)), meter_(&meter) {}

  /// Returns "1:02:03 left"; "" if the total number of iterations or the speed is unknown.
  std::string operator()();

 private:
  std::string run_dir_;
  const rundir::Meter* meter_;
  std::optional<std::vector<rundir::AttemptRecord>> attempts_;  ///< last element: the current attempt
};

}  // namespace trainrt::trainer
