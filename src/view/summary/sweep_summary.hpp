#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "rundir/records/run_state.hpp"
#include "view/summary/run_summary.hpp"

namespace trainrt::view {

struct SweepTrial {
  std::string name;  ///< name of the trial's run
  std::string path;  ///< run directory; exists once the trial has begun
  rundir::RunState state = rundir::RunState::waiting;
  std::map<std::string, std::string> config;  ///< values of [tune.space], by config key
  std::int64_t reports = 0;
  std::optional<double> best, last;  ///< values of the metric
  std::string why;                   ///< reason of a failure or of an early end; otherwise ""
};

/// The trials of a sweep and the metric by which they are compared.
struct SweepSummary {
  std::string path;
  std::string metric;  ///< "" if the sweep has no metric
  bool minimize = false;
  std::vector<SweepTrial> trials;

  /// Returns all keys that trials set, in alphabetical order.
  std::vector<std::string> keys() const;
  /// Returns the first trial after rank(); nullptr if no trial has reported the metric.
  const SweepTrial* best() const;
};

/// Sorts the trials by the metric, the best first, and then by number. Sorts `runs`, the runs in the directory of the
/// sweep, in the same order; the runs of earlier generations of a trial come last. RunSummary::best() then returns the best
/// report by the metric of the sweep.
void rank(SweepSummary& sweep, std::vector<RunSummary>& runs);

}  // namespace trainrt::view
