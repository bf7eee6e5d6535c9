#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "core/options.hpp"
#include "core/plugin.hpp"

namespace trainrt::tune {

/// What a trial has reported.
struct TrialReport {
  std::uint64_t trial = 0;
  std::int64_t iteration = 0;  ///< from 1
  double score = 0;            ///< the metric, negated if less is better: more is better. Never NaN
};

/// Says which trials end before their time. It knows reports, each trial's in order, the trials' in any: what it says hangs
/// on which it has seen, not on their order among trials.
class Scheduler {
 public:
  virtual ~Scheduler() = default;
  /// Whether it wants that report; the others need not be kept.
  virtual bool wants(std::uint64_t trial, std::int64_t iteration) const = 0;
  /// A report that it wants, of any trial.
  virtual void observe(const TrialReport& report) = 0;
  /// Whether the trial ends with that report, which observe() has not had yet; for a report that it wants.
  virtual bool stops(const TrialReport& report) const = 0;
};

/// A plug-in: one file in tune/schedulers. Its options are the keys of [tune.NAME].
struct SchedulerKind {
  std::string_view name;
  std::string_view help;
  std::vector<OptionSpec> options;
  /// `options`: checked. `seed`: of the sweep. UsageError for options that do not fit together.
  std::unique_ptr<Scheduler> (*open)(const Options& options, std::uint64_t seed);
};

PluginTable<SchedulerKind> scheduler_table();

}  // namespace trainrt::tune
