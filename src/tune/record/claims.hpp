#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "tune/record/history.hpp"
#include "tune/record/sweep.hpp"

namespace trainrt::tune {

/// The right to run one attempt of a trial: a file that one process alone can make.
struct Claim {
  std::uint64_t trial = 0;
  int attempt = 0;
  bool ends = false;  ///< the scheduler says that the trial, which is paused, does not go on: that is to be written down
};

/// Whether an attempt of the run in that directory is alive.
bool run_is_alive(const std::string& run_dir);

/// The path of the claim on an attempt of a trial.
std::string claim_file(const Sweep& sweep, std::uint64_t trial, int attempt);

/// Finds the trial that a process runs next, and claims it, so that no other does.
class Claims {
 public:
  Claims(const Sweep& sweep, int writer) : sweep_(sweep), writer_(writer) {}

  /// First what was interrupted, then a new one, then what somebody has left who is dead; nullopt if there is none now. If
  /// trials take turns, new ones come first, and then those that have made the fewest reports.
  std::optional<Claim> next(const History& history, const Scheduler& scheduler);

  /// Returns whether somebody runs a trial that its newest record says runs. Changes nothing.
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
  std::map<int, double> alive_at_s_;  ///< when a writer was last found alive
};

}  // namespace trainrt::tune
