#pragma once
#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "core/options.hpp"
#include "core/plugin.hpp"
#include "tune/search/search_space.hpp"

namespace trainrt::tune {

/// The score that replaces NaN and the worst infinity. It is finite, so that medians can be computed.
inline constexpr double worst_score = -1e300;

/// Position of a report in a trial. When a trial becomes a clone of another trial, the donor, its generation increases by
/// 1, and its reports are numbered from the donor's checkpoint on.
struct ReportPosition {
  int generation = 1;
  std::int64_t iteration = 0;  ///< number of the report, from 1
  auto operator<=>(const ReportPosition&) const = default;
};

/// One report of a trial.
struct TrialReport {
  std::uint64_t trial = 0;
  ReportPosition at;
  double score = 0;  ///< finite; higher is better: the metric, negated if it is minimized
};

/// Decision of a scheduler about a trial.
struct Verdict {
  enum class Kind : std::uint8_t {
    go_on,
    stop,   ///< the trial ends
    pause,  ///< the trial saves a checkpoint and waits, so that another trial can run
    clone,  ///< the trial continues from the checkpoint of another trial, the donor, with explored values
  };
  Kind kind = Kind::go_on;
  std::uint64_t donor = 0;  ///< for Kind::clone: the other trial
  bool operator==(const Verdict&) const = default;
};

/// Decides, at the reports of a trial, whether the trial continues. Reports of one trial arrive in order. Reports of
/// different trials may arrive in any order; decisions depend on the set of reports, and not on this order. Not
/// thread-safe.
class Scheduler {
 public:
  virtual ~Scheduler() = default;
  /// Returns whether the scheduler needs report number `iteration` of a trial for its decisions. Other reports are not
  /// recorded.
  virtual bool wants(std::uint64_t trial, std::int64_t iteration) const = 0;
  /// Adds a report of any trial. Precondition: wants() is true for the report.
  virtual void observe(const TrialReport& report) = 0;
  /// Called when a trial has followed a decision to clone it, made at a report up to `at`. The trial is a clone now, or
  /// it continues unchanged because its donor has no checkpoint.
  virtual void observe_cloning(std::uint64_t /*trial*/, const ReportPosition& /*at*/) {}
  /// Called once when a trial is done: it has finished, was stopped, or failed and will not be run again.
  virtual void forget(std::uint64_t /*trial*/) {}
  /// Returns the decision at a report. Precondition: wants() is true for the report, and observe() has not received it
  /// yet.
  virtual Verdict verdict(const TrialReport& report) const = 0;
  /// Returns the decision about a paused trial after the reports observed so far: it continues (go_on), stays paused,
  /// stops, or becomes a clone before it continues.
  virtual Verdict verdict_on_paused(std::uint64_t /*trial*/) const { return {}; }
  /// Returns the value of the key max_t: every trial stops after this number of reports. Returns nullopt if the
  /// scheduler has no such key.
  virtual std::optional<std::int64_t> max_reports() const { return std::nullopt; }
  /// Returns whether the scheduler pauses a trial at a report while another trial waits for resources.
  virtual bool takes_turns() const { return false; }
  /// Returns whether a clone continues from the newest checkpoint that its donor saved up to the compared report, if
  /// the donor still has such a checkpoint. Otherwise the clone continues from the donor's newest checkpoint.
  virtual bool clones_from_compared_report() const { return false; }
  /// Returns the values of a clone. They are computed from the values of its donor; only the dimensions `mutated`
  /// change. Pure function.
  virtual Params explored(const Params& donor, const std::vector<SearchSpace::Dimension>& /*mutated*/,
                          std::uint64_t /*trial*/, int /*generation*/) const {
    return donor;
  }
};

/// Properties of a sweep that a scheduler may use.
struct SweepFacts {
  std::uint64_t seed = 0;
  std::uint64_t trials = 0;  ///< number of trials; grows if the user raises tune.num_samples
};

/// A plug-in that defines a scheduler. Each plug-in is one file in tune/schedulers. The keys of config section
/// [tune.NAME] are the options of the scheduler NAME.
struct SchedulerKind {
  std::string_view name;
  std::string_view title;  ///< name in messages: "stopped early by TITLE at report 3"
  std::string_view help;
  std::vector<OptionSpec> options;
  /// Creates the scheduler from checked `options`. Throws UsageError for options that cannot be combined.
  std::unique_ptr<Scheduler> (*open)(const Options& options, const SweepFacts& sweep);
};

PluginTable<SchedulerKind> scheduler_table();

}  // namespace trainrt::tune
