#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <trainrt/export.hpp>

namespace trainrt {

/// How a trial of a sweep stands.
struct TrialResult {
  std::string name;                           ///< of its run: trial_00017
  std::string path;                           ///< of its run directory, for Result::from_path(); it may not be there yet
  std::string state;                          ///< "waiting", "running", "paused", "finished", "failed" or "killed"
  std::map<std::string, std::string> config;  ///< what the trial sets, by config key
  std::int64_t training_iteration = 0;        ///< reports, at the end of its last attempt
  std::optional<double> last, best;           ///< the sweep's metric there, and at its best report
  int attempts = 0;                           ///< starts of the trial
  bool is_over = false;                       ///< it is not run again
  std::string why;                            ///< it failed, or was ended early; "" if there is nothing to say
};

/// The trials of a sweep of `trainrt tune`, in the order of their numbers: a value, which nothing changes once it is made.
struct TRAINRT_API ResultGrid {
  std::string path;    ///< the sweep's directory
  std::string metric;  ///< by which trials are compared; "": none
  std::string mode;    ///< "min" or "max"
  std::vector<TrialResult> trials;

  std::size_t size() const { return trials.size(); }
  const TrialResult& operator[](std::size_t number) const { return trials.at(number); }
  auto begin() const { return trials.begin(); }
  auto end() const { return trials.end(); }

  /// The trial with the best report. UsageError if none has reported the metric.
  const TrialResult& get_best_result() const;
  /// Trials that failed, and those that ended well.
  std::size_t num_errors() const;
  std::size_t num_terminated() const;

  /// Of any sweep's directory, also of one that goes on. UsageError if it is none. Not collective.
  static ResultGrid from_path(const std::string& sweep_dir);
};

}  // namespace trainrt
