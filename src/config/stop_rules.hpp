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

/// The keys of [stop], for `trainrt list`.
std::span<const OptionSpec> stop_options();

/// [stop]: when a run is done before its train function says so. A key is the name of a reported metric (or
/// training_iteration), its value the number from which on it stops: "0.9" and ">= 0.9" (as Ray Train's `stop`), or "<=
/// 0.1". `patience = N` with `patience_metric`, `patience_order` (min | max, default min) and `patience_delta` (default 0)
/// stops after N reports without an improvement by more than delta (early stopping: Prechelt, "Early stopping - but when?",
/// 1998).
///
/// Fed with the same aggregated metrics on every rank it decides the same on every rank. What it remembers belongs to the
/// checkpoint: attach().
class StopRules {
 public:
  using Metrics = std::map<std::string, double>;

  /// `settings`: everything whose change lets a run that ended early go on. Throws UsageError that names key and place.
  explicit StopRules(const Options& stop, std::string_view settings = "");

  /// Why the run is done: "test_accuracy = 0.91 >= 0.9"; nullopt: it goes on. Call it once a report.
  std::optional<std::string> check(std::int64_t iteration, const Metrics& metrics);
  /// Names of metrics that a rule is about and `metrics` lacks.
  std::vector<std::string> missing(const Metrics& metrics) const;
  void attach(State& state);

  /// The run ends early; the checkpoints from now on know it: a run that is killed before its end is on record must not go
  /// on.
  void note_end(const std::string& reason);
  /// After a restore: why the run had ended early, under the same settings; "" if it had not.
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
  std::optional<std::string> run_out(const Metrics& metrics);

  std::vector<Threshold> thresholds_;
  std::optional<PatienceRule> patience_;
  bool seen_ = false;
  double best_ = 0;
  std::int64_t waited_ = 0;
  std::int64_t settings_;  // a hash
  std::int64_t ended_under_ = 0;
  std::string end_reason_;
};

}  // namespace trainrt::config
