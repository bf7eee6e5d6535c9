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

/// The score of a NaN and of the worst infinity: still a number, of which medians can be made.
inline constexpr double worst_score = -1e300;

/// Where in a trial's life a report stands. A trial that has become the clone of another is in its next generation, whose
/// reports are counted on from where the other's checkpoint was.
struct ReportPlace {
  int generation = 1;
  std::int64_t iteration = 0;  ///< from 1
  auto operator<=>(const ReportPlace&) const = default;
};

/// What a trial has reported.
struct TrialReport {
  std::uint64_t trial = 0;
  ReportPlace at;
  double score = 0;  ///< the metric, negated if less is better: more is better. Finite
};

/// What becomes of a trial.
struct Verdict {
  enum class Kind : std::uint8_t {
    go_on,
    stop,   ///< its time is over
    pause,  ///< it waits, with a checkpoint, and leaves its place to others
    clone,  ///< it goes on from the checkpoint of another trial, with that one's values or others
  };
  Kind kind = Kind::go_on;
  std::uint64_t donor = 0;  ///< of a clone: that other trial
  bool operator==(const Verdict&) const = default;
};

/// Says what becomes of trials at their reports. It knows reports, each trial's in order, the trials' in any: what it says
/// hangs on which it has seen, not on their order among trials.
class Scheduler {
 public:
  virtual ~Scheduler() = default;
  /// Whether it wants the report of that number; the others need not be kept.
  virtual bool wants(std::uint64_t trial, std::int64_t iteration) const = 0;
  /// A report that it wants, of any trial.
  virtual void observe(const TrialReport& report) = 0;
  /// The trial is over, well or not.
  virtual void forget(std::uint64_t /*trial*/) {}
  /// What becomes of the trial with that report, which observe() has not had yet; for a report that it wants.
  virtual Verdict verdict(const TrialReport& report) const = 0;
  /// What becomes of a trial that is paused, by what was observed: it goes on, goes on being paused, or stops.
  virtual Verdict::Kind of_paused(std::uint64_t /*trial*/) const { return Verdict::Kind::go_on; }
  /// If there are more trials than places for them, whether they take turns between their reports.
  virtual bool takes_turns() const { return false; }
  /// The values of a clone, out of its donor's; `mutated`: those that change. A pure function.
  virtual Params explored(const Params& donor, const std::vector<SearchSpace::Dimension>& /*mutated*/,
                          std::uint64_t /*trial*/, int /*generation*/) const {
    return donor;
  }
};

/// What a scheduler learns of its sweep.
struct SweepFacts {
  std::uint64_t seed = 0;
  std::uint64_t trials = 0;  ///< it may grow
};

/// A plug-in: one file in tune/schedulers. Its options are the keys of [tune.NAME].
struct SchedulerKind {
  std::string_view name;
  std::string_view help;
  std::vector<OptionSpec> options;
  /// `options`: checked. UsageError for options that do not fit together.
  std::unique_ptr<Scheduler> (*open)(const Options& options, const SweepFacts& sweep);
};

PluginTable<SchedulerKind> scheduler_table();

}  // namespace trainrt::tune
