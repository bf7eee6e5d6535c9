#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "tune/record/history.hpp"
#include "tune/record/sweep.hpp"

namespace trainrt::tune {

/// The exclusive right to run one attempt of a trial. It is represented by a file that only one process can create.
struct Claim {
  std::uint64_t trial = 0;
  int attempt = 0;
  bool ends = false;  ///< true: record that the scheduler has stopped this paused trial, and do not run it
};

/// Returns whether an attempt of the run in `run_dir` is alive.
bool run_is_alive(const std::string& run_dir);

/// Returns the path of the claim file: only the process that creates it may run this attempt of the trial.
std::string claim_file(const Sweep& sweep, std::uint64_t trial, int attempt);

/// Selects the trial that a process runs next, and claims it. Not thread-safe, but several threads of a process may
/// each use their own object.
class Claims {
 public:
  Claims(const Sweep& sweep, int writer) : sweep_(sweep), writer_(writer) {}

  /// Claims the next trial. An interrupted trial is preferred, then a new trial, then a trial of a process that died.
  /// If the scheduler pauses trials to let other trials run, new trials come first, then the trials with the fewest
  /// reports. Returns nullopt if no trial can be run now.
  std::optional<Claim> next(const History& history, const Scheduler& scheduler);

  /// Returns whether a live process runs the trial. Claims nothing.
  bool is_running(const History& history, std::uint64_t trial);

 private:
  std::optional<Claim> interrupted(const History& history, const Scheduler& scheduler);
  std::optional<Claim> fresh(const History& history);
  std::optional<Claim> abandoned(const History& history, const Scheduler& scheduler);
  bool claim(std::uint64_t trial, int attempt) const;
  std::optional<int> writer_of(std::uint64_t trial, int attempt) const;
  bool runs(const History& history, std::uint64_t trial, int generation, int attempt);
  bool is_alive(const History& history, int writer) const;

  const Sweep& sweep_;
  int writer_;
  std::uint64_t next_fresh_ = 0;
  std::map<int, double> alive_at_s_;  ///< by writer: the time of the last check that found it alive
};

}  // namespace trainrt::tune
