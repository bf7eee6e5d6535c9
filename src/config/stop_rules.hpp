#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <trainrt/state.hpp>

#include "core/options.hpp"

namespace trainrt::config {

/// Returns the keys of the config section [stop]; the first is a placeholder for the name of any metric.
std::span<const OptionSpec> stop_options();

/// The conditions of the config section [stop], which end a run before its train function returns.
/// - A key that is the name of a reported metric, or training_iteration, has a limit as its value: "0.9" and ">= 0.9" end
///   the run at 0.9 or more (as Ray Train's `stop`), "<= 0.1" at 0.1 or less.
/// - `patience = N` ends the run after N reports in which the metric `patience_metric` has not improved by more than
///   `patience_delta` (default 0). `patience_order` is min or max (default min). This is early stopping (Prechelt, "Early
///   stopping - but when?", 1998).
///
/// All ranks make the same decisions if they pass the same aggregated metrics. attach() adds the state of the rules to
/// checkpoints.
class StopRules {
 public:
  using Metrics = std::map<std::string, double>;

  /// `stop` has the keys of [stop]. `settings` is a text that contains further config values: if the text has changed since
  /// a run ended early, the run may continue. Throws a UsageError that names the invalid key and its origin.
  explicit StopRules(const Options& stop, std::string_view settings = "");

  /// Returns the reason why the run must end, such as "test_accuracy = 0.91 >= 0.9", or nullopt if it continues. Must be
  /// called once per report.
  std::optional<std::string> check(std::int64_t iteration, const Metrics& metrics);
  /// Returns the names of the metrics that a stop rule needs and that `metrics` lacks.
  std::vector<std::string> missing(const Metrics& metrics) const;
  void attach(State& state);

  /// Records that the run ends early for `reason`. Later checkpoints contain the reason, so a run that is killed before its
  /// end is recorded does not resume training.
  void note_end(const std::string& reason);
  /// Returns the reason for an early end that the restored checkpoint contains; "" if there is no reason or if the settings
  /// have changed since.
  std::string noted_end() const { return ended_under_ == settings_ ? end_reason_ : ""; }

 private:
  struct Threshold {
    std::string metric;
    bool at_least;
    double value;
  };
  struct PatienceRule {
    std::int64_t reports;
    std::string metric;
    bool maximize;
    double delta;
  };
  void take_patience(const Options& given);
  std::optional<std::string> check_patience(const Metrics& metrics);

  std::vector<Threshold> thresholds_;
  std::optional<PatienceRule> patience_;
  bool seen_ = false;
  double best_ = 0;
  std::int64_t waited_ = 0;
  std::int64_t settings_;         ///< hash of the `settings` text
  std::int64_t ended_under_ = 0;  ///< hash of the `settings` text when the early end was recorded
  std::string end_reason_;
};

}  // namespace trainrt::config
