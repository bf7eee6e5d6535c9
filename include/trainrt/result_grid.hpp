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
  std::string name;   ///< name of the trial's run: trial_00017
  std::string path;   ///< the trial's run directory, for Result::from_path(); exists once the trial has begun
  std::string state;  ///< "waiting", "running", "paused", "finished", "failed" or "killed"
  std::map<std::string, std::string> config;  ///< config values that the trial sets, by config key
  std::int64_t training_iteration = 0;        ///< number of reports at the end of the trial's last attempt
  std::optional<double> last, best;           ///< value of the sweep's metric in the trial's last and best report
  int attempts = 0;                           ///< number of attempts: how often the trial was started
  bool is_over = false;                       ///< true if the trial will not run again
  std::string why;                            ///< reason why the trial failed or was stopped early; otherwise ""
};

/// The trials of a sweep of `trainrt tune` at one moment, ordered by number (Ray: ResultGrid). A ResultGrid does not change
/// when the sweep continues.
struct TRAINRT_API ResultGrid {
  std::string path;    ///< path of the sweep's directory
  std::string metric;  ///< name of the metric by which trials are compared; "" if the sweep has no metric
  std::string mode;    ///< min: lower values of the metric are better; max: higher values
  std::vector<TrialResult> trials;

  std::size_t size() const { return trials.size(); }
  const TrialResult& operator[](std::size_t number) const { return trials.at(number); }
  auto begin() const { return trials.begin(); }
  auto end() const { return trials.end(); }

  /// Returns the trial with the best value of the metric in any report. Throws UsageError if no trial has reported the
  /// metric. Not collective.
  const TrialResult& get_best_result() const;
  std::size_t num_errors() const;      ///< number of failed trials
  std::size_t num_terminated() const;  ///< number of finished trials

  /// Reads the results of a sweep, which may still be running, from its directory. Throws UsageError if `sweep_dir` is not
  /// the directory of a sweep. Not collective.
  static ResultGrid from_path(const std::string& sweep_dir);
};

}  // namespace trainrt
