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

/// Returns the keys of [stop]; the first stands for the name of any metric.
std::span<const OptionSpec> stop_options();

/// The conditions of [stop], which end a run before its train function returns. A key is the name of a reported metric, or
/// training_iteration, and its value is the limit: "0.9" and ">= 0.9" end the run at 0.9 or more (as Ray Train's `stop`),
/// "<= 0.1" at 0.1 or less. `patience = N` with `patience_metric`, `patience_order` (min or max, default min) and
/// `patience_delta` (default 0) ends the run after N reports without an improvement by more than delta (early stopping:
/// Prechelt, "Early stopping - but when?", 1998).
///
/// All ranks come to the same decisions if they pass the same aggregated metrics. attach() adds the state of the rules to
/// checkpoints.
class StopRules {
 public:
  using Metrics = std::map<std::string, double>;

  /// `settings` is a text of all settings that let a run continue after an early end if they are changed. Throws UsageError
  /// that names the key and its origin.
  explicit StopRules(const Options& stop, std::string_view settings = "");

  /// Returns why the run ends, such as "test_accuracy = 0.91 >= 0.9", or nullopt if it continues. Must be called once per
  /// report.
  std::optional<std::string> check(std::int64_t iteration, const Metrics& metrics);
  /// Returns the names of the metrics that a rule needs and `metrics` lacks.
  std::vector<std::string> missing(const Metrics& metrics) const;
  void attach(State& state);

  /// Notes that the run ends early for `reason`. Later checkpoints contain it, so that a run that is killed before its end
  /// is recorded does not resume.
  void note_end(const std::string& reason);
  /// Returns the reason that a restored checkpoint contains, if the settings are the same; else "".
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
  std::int64_t settings_;         ///< hash of the settings
  std::int64_t ended_under_ = 0;  ///< hash of the settings at the noted end
  std::string end_reason_;
};

}  // namespace trainrt::config
