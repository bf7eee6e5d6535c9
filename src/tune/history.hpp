#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <trainrt/result.hpp>

#include "rundir/owner.hpp"
#include "tune/journal.hpp"
#include "tune/search_space.hpp"

namespace trainrt::tune {

/// How a trial stands, by the records of all writers.
struct Trial {
  enum class State : std::uint8_t { running, paused, failed, finished, stopped };
  State state = State::running;
  int attempt = 0;   ///< the newest
  int failures = 0;  ///< attempts that failed
  std::int64_t iterations = 0;
  std::optional<double> last, best;             ///< the metric, at the end of an attempt
  std::string why;                              ///< it failed, or was stopped
  std::map<std::int64_t, double> reports = {};  ///< scores that the scheduler wants, by iteration
  Params params = {};                           ///< if a program said them
  bool has_ended_well() const { return state == State::finished || state == State::stopped; }
  /// It is not run again.
  bool is_over(int max_failures) const { return has_ended_well() || (state == State::failed && failures > max_failures); }
};

std::string_view name_of(Trial::State state);

/// What a trial's end says.
struct TrialEnd {
  std::uint64_t trial = 0;
  int attempt = 0;
  Trial::State state = Trial::State::finished;
  std::int64_t iterations = 0;
  std::optional<double> last = {}, best = {};
  std::string why = {};
};

// Records, as JSON objects.
/// First in each file: who writes it.
std::string writer_record(const rundir::Owner& owner);
/// `params`: those that a program said for it.
std::string begin_record(std::uint64_t trial, int attempt, const Params& params = {});
/// `read`: what of each file it was made of, of those where that is more than for the file's decision before.
std::string decision_record(std::uint64_t trial, std::int64_t iteration, double score, bool stops, const Positions& read);
std::string end_record(const TrialEnd& end);

/// A decision as it was recorded.
struct Decision {
  std::uint64_t trial = 0;
  std::int64_t iteration = 0;
  double score = 0;
  bool stops = false;
};

/// The records of a journal, put together. Records of several writers may come in any order.
class History {
 public:
  void take(int writer, const std::string& json);
  const std::map<std::uint64_t, Trial>& trials() const { return trials_; }
  const std::map<int, rundir::Owner>& writers() const { return writers_; }
  const std::vector<Decision>& decisions() const { return decisions_; }
  /// What of each file that writer's last decision was made of.
  Positions read_by(int writer) const;

 private:
  std::map<int, rundir::Owner> writers_;
  std::map<std::uint64_t, Trial> trials_;
  std::vector<Decision> decisions_;
  std::map<int, Positions> read_;  ///< by writer
};

}  // namespace trainrt::tune
