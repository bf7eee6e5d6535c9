#pragma once
#include <optional>
#include <string>
#include <vector>

#include "rundir/attempts/meter.hpp"
#include "rundir/records/attempt_record.hpp"

namespace trainrt::trainer {

/// What is left of a run, in a few words, from its attempts so far and the one that runs (rundir/usage/forecast.hpp). The
/// records of earlier attempts are read once, at the first question with a total to go to. One thread at a time.
class TimeLeft {
 public:
  /// `meter` must live longer.
  TimeLeft(std::string run_dir, const rundir::Meter& meter) : run_dir_(std::move(run_dir)), meter_(&meter) {}

  /// "1:02:03 left"; "" if too little is known.
  std::string operator()();

 private:
  std::string run_dir_;
  const rundir::Meter* meter_;
  std::optional<std::vector<rundir::AttemptRecord>> attempts_;  ///< the last one is this
};

}  // namespace trainrt::trainer
