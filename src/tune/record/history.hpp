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

/// What the scheduler said, of a report, or of the last one of a trial that was paused.
struct Decision {
  TrialReport report;
  Verdict verdict;
};

/// How a trial stands, by the records of all writers.
struct Trial {
  /// In the journal: stopped means by its scheduler, for good.
  enum class State : std::uint8_t { running, paused, failed, finished, stopped };
  State state = State::running;
  int attempt = 0;                        ///< the newest
  int failures = 0;                       ///< attempts that failed, after `retried_after`
  int retried_after = 0;                  ///< failures of attempts up to this one no longer count: retry_record()
  std::vector<int> failed_attempts = {};  ///< their numbers, all of them
  std::int64_t iterations = 0;
  std::optional<double> last, best;            ///< the metric, at the end of an attempt
  std::string why;                             ///< it failed, or was stopped
  std::map<ReportPlace, double> reports = {};  ///< scores that the scheduler wants
  Params params = {};                          ///< those that no searcher says by itself: a program's, or a clone's
  int params_attempt = 0;                      ///< of the attempt that asked a program for them
  int generation = 1;                          ///< it has become a clone so many times, less one
  std::string clone_of = {};                   ///< where this generation began: a checkpoint in the sweep's directory
  std::optional<Decision> cloning = {};        ///< it is to become a clone before it goes on
  std::int64_t kept_at = 0;             ///< of what iteration, in this generation, that was tried and came to nothing
  int halts = 0;                        ///< so often the scheduler has paused it
  std::optional<int> final_up_to = {};  ///< TrialEnd::final_up_to of the newest attempt
  bool has_ended_well() const { return state == State::finished || state == State::stopped; }
  /// It is not run again.
  bool is_over(int max_failures) const {
    const bool is_final = failures > max_failures || (final_up_to && max_failures <= *final_up_to);
    return has_ended_well() || (state == State::failed && is_final);
  }
};

/// Returns the state in the words of all runs: one that its scheduler stopped has finished, early.
rundir::RunState state_of(Trial::State state);

/// What a trial's end says.
struct TrialEnd {
  std::uint64_t trial = 0;
  int attempt = 0;
  Trial::State state = Trial::State::finished;
  std::int64_t iterations = 0;
  std::optional<double> last = {}, best = {};
  std::string why = {};
  /// A restart does not help: the trial is not run again as long as tune.max_failures is at most this.
  std::optional<int> final_up_to = {};
};

// Records, as JSON objects.
/// First in each file: who writes it.
std::string writer_record(const rundir::Owner& owner);
/// `params`: those that a program said for it.
std::string begin_record(std::uint64_t trial, int attempt, int generation, const Params& params = {});

std::string decision_record(const Decision& decision);

/// The trial gets new attempts: its failures up to this attempt no longer count, and what a program had said for it
/// before is asked again. Several processes may write the same.
std::string retry_record(std::uint64_t trial, int attempt);

/// The trial is paused, as a decision says.
std::string halt_record(std::uint64_t trial);

/// A trial has become the clone of another, as was decided of its report at `iteration`: it is in a new generation.
struct Clone {
  std::uint64_t trial = 0;
  int generation = 2;
  std::int64_t iteration = 0;
  std::string checkpoint;  ///< a link to the donor's, in the sweep's directory; "": it has none, and all stays as it was
  Params params = {};
  std::uint64_t donor = 0;
  ReportPlace donor_at = {};  ///< where the donor stood in that checkpoint
};
std::string clone_record(const Clone& clone);
std::string end_record(const TrialEnd& end);

/// The records of a journal, put together. Records of several writers may come in any order.
class History {
 public:
  void take(int writer, const std::string& json);
  const std::map<std::uint64_t, Trial>& trials() const { return trials_; }
  /// One that nobody has begun is attempt 0.
  const Trial& trial(std::uint64_t number) const;
  const std::map<int, rundir::Owner>& writers() const { return writers_; }
  const std::vector<Decision>& decisions() const { return decisions_; }

 private:
  std::map<int, rundir::Owner> writers_;
  std::map<std::uint64_t, Trial> trials_;
  std::vector<Decision> decisions_;
};

}  // namespace trainrt::tune
