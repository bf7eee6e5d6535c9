#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <trainrt/export.hpp>

namespace trainrt {

/// The state and results of one trial of a sweep.
struct TrialResult {
  std::string name;   ///< name of its run: trial_00017
  std::string path;   ///< its run directory, for Result::from_path(); exists once the trial has begun
  std::string state;  ///< "waiting", "running", "paused", "finished", "failed" or "killed"
  std::map<std::string, std::string> config;  ///< values that the trial sets, by config key
  std::int64_t training_iteration = 0;        ///< number of reports at the end of its last attempt
  std::optional<double> last, best;           ///< the sweep's metric at its last and at its best report
  int attempts = 0;                           ///< number of times that the trial was started
  bool is_over = false;                       ///< it will not run again
  std::string why;                            ///< why it failed or was stopped early; otherwise ""
};

/// The trials of a sweep of `trainrt tune` at one moment, by their numbers (Ray: ResultGrid). The object does not change
/// afterwards.
struct TRAINRT_API ResultGrid {
  std::string path;    ///< directory of the sweep
  std::string metric;  ///< metric by which trials are compared; "" if the sweep has no metric
  std::string mode;    ///< "min" or "max": whether lower or higher is better
  std::vector<TrialResult> trials;

  std::size_t size() const { return trials.size(); }
  const TrialResult& operator[](std::size_t number) const { return trials.at(number); }
  auto begin() const { return trials.begin(); }
  auto end() const { return trials.end(); }

  /// Returns the trial with the best report. Throws UsageError if no trial has reported the metric. Not collective.
  const TrialResult& get_best_result() const;
  std::size_t num_errors() const;      ///< number of failed trials
  std::size_t num_terminated() const;  ///< number of finished trials

  /// Reads the directory of a sweep; the sweep may still be running. Throws UsageError if `sweep_dir` is not one. Not
  /// collective.
  static ResultGrid from_path(const std::string& sweep_dir);
};

}  // namespace trainrt
