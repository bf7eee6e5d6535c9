#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <trainrt/result.hpp>

#include "rundir/records/owner.hpp"
#include "rundir/records/run_state.hpp"
#include "tune/record/journal.hpp"
#include "tune/search/scheduler.hpp"
#include "tune/search/search_space.hpp"

namespace trainrt::tune {

/// A scheduler's verdict on a report, or on the last report of a paused trial.
struct Decision {
  TrialReport report;
  Verdict verdict;
};

/// A report that has no number for tune.metric.
struct MissingMetric {
  std::string metric;                 ///< value of tune.metric
  std::vector<std::string> reported;  ///< names of the numbers in the report
};

/// The state of a trial, computed from the records of all processes of the sweep.
struct Trial {
  /// The numbers are stored in the journal and must not change. `stopped` means that the scheduler ended the trial.
  enum class State : std::uint8_t { running, paused, failed, finished, stopped };
  State state = State::running;
  int attempt = 0;                        ///< number of the newest attempt; 0 before the first attempt
  int failures = 0;                       ///< number of attempts after `retried_after` that failed
  int retried_after = 0;                  ///< failures of attempts up to this one do not count (retry_record())
  std::vector<int> failed_attempts = {};  ///< numbers of all failed attempts
  std::int64_t iterations = 0;
  std::optional<double> last, best;               ///< values of the metric at the end of the newest attempt
  std::string why;                                ///< reason of a failure or a stop
  std::map<ReportPosition, double> reports = {};  ///< scores of the reports that the scheduler uses
  Params params = {};                             ///< values from a searcher program, or of a clone; others are recomputed
  int params_attempt = 0;                         ///< attempt that asked the searcher program for `params`
  int generation = 1;                             ///< 1 + the number of times that the trial became a clone
  std::string clone_of = {};             ///< checkpoint in the sweep's directory from which this generation started
  std::uint64_t donor = 0;               ///< trial that saved the checkpoint `clone_of`
  int donor_generation = 1;              ///< generation of the donor at that checkpoint
  std::optional<Decision> cloning = {};  ///< decision by which the trial becomes a clone before it continues
  std::int64_t kept_at = 0;  ///< last iteration of this generation at which a donor had no checkpoint to clone; 0: never
  int halts = 0;             ///< number of times that the scheduler paused the trial
  std::optional<int> final_up_to = {};               ///< TrialEnd::final_up_to of the newest attempt
  std::optional<MissingMetric> missing_metric = {};  ///< TrialEnd::missing_metric of the attempt that ended last
  bool has_succeeded() const { return state == State::finished || state == State::stopped; }
  /// Returns whether the trial is done and will not be run again.
  bool is_done(int max_failures) const {
    const bool is_final = failures > max_failures || (final_up_to && max_failures <= *final_up_to);
    return has_succeeded() || (state == State::failed && is_final);
  }
};

/// Returns the corresponding state of a run. A trial that its scheduler stopped counts as finished.
rundir::RunState state_of(Trial::State state);

/// The end of a trial's attempt: its state, its metric values and the reason.
struct TrialEnd {
  std::uint64_t trial = 0;
  int attempt = 0;
  Trial::State state = Trial::State::finished;
  std::int64_t iterations = 0;
  std::optional<double> last = {}, best = {};
  std::string why = {};
  /// Set if a restart would not help: the value of tune.max_failures at the failure. The trial is run again only if
  /// tune.max_failures is raised above this number.
  std::optional<int> final_up_to = {};
  /// Set if the attempt failed because a report had no number for tune.metric.
  std::optional<MissingMetric> missing_metric = {};
};

// These functions return the records of a journal as JSON objects.

/// Returns the first record of each journal file, which identifies the process that writes the file.
std::string writer_record(const rundir::Owner& owner);
/// Returns the record of the start of an attempt of a trial. `params` are the values that a searcher program returned.
std::string begin_record(std::uint64_t trial, int attempt, int generation, const Params& params = {});

std::string decision_record(const Decision& decision);

/// Returns the record that gives a trial new attempts: failures up to `attempt` no longer count, and a searcher program
/// is run again. Several processes may write the same record.
std::string retry_record(std::uint64_t trial, int attempt);

/// Returns the record for a trial that the scheduler has paused.
std::string halt_record(std::uint64_t trial);

/// Records that a trial became the clone of another trial at `iteration`. This starts a new generation of the trial.
struct Clone {
  std::uint64_t trial = 0;
  int generation = 2;
  std::int64_t iteration = 0;
  std::string checkpoint;  ///< link to the donor's, in the sweep's directory; "": the trial does not change
  Params params = {};
  std::uint64_t donor = 0;
  ReportPosition donor_at = {};  ///< position of the donor in that checkpoint
};
std::string clone_record(const Clone& clone);
std::string end_record(const TrialEnd& end);

/// The state of all trials, computed from the records in a sweep's journal. Records of different processes may be added
/// in any order.
class History {
 public:
  /// Adds a record that process number `writer` has written. Unknown kinds of records, from later versions, are
  /// ignored.
  void take(int writer, const std::string& json);
  const std::map<std::uint64_t, Trial>& trials() const { return trials_; }
  /// Returns the state of a trial, or a default Trial if no attempt of the trial has begun.
  const Trial& trial(std::uint64_t number) const;
  const std::map<int, rundir::Owner>& writers() const { return writers_; }
  const std::vector<Decision>& decisions() const { return decisions_; }

 private:
  std::map<int, rundir::Owner> writers_;
  std::map<std::uint64_t, Trial> trials_;
  std::vector<Decision> decisions_;
};

}  // namespace trainrt::tune
