#pragma once
#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include <trainrt/error.hpp>

#include "tune/claims.hpp"
#include "tune/sweep.hpp"
#include "tune/trial_process.hpp"

namespace trainrt::tune {

/// Runs trials of a sweep in this process's allocation, several at once, each in processes of its own, until none is left
/// or a signal comes. Other processes may do the same with the same sweep, anywhere.
class SweepRun {
 public:
  /// `command`: starts the ranks of a trial, with the words of its run behind it.
  SweepRun(const Sweep& sweep, std::vector<std::string> command) : sweep_(sweep), command_(std::move(command)) {}

  /// `groups`: trials at once. finished: every trial is over, and one at least did not fail; stopped: a signal, or the end
  /// of the job's time, and the same command goes on; failed: no trial ended well, or one failed that ends the sweep.
  ExitCode run(int groups);

 private:
  class Group;
  void look_after(std::vector<std::unique_ptr<Group>>& groups);
  ExitCode outcome() const;

  const Sweep& sweep_;
  std::vector<std::string> command_;
  std::atomic<bool> stopping_ = false;
  std::atomic<bool> has_failed_ = false;  ///< a trial, for good, which ends the sweep
  std::atomic<int> working_ = 0;          ///< groups whose threads run
};

/// All records of a sweep.
History history_of(const Sweep& sweep);

}  // namespace trainrt::tune
