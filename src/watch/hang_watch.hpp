#pragma once
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <sys/types.h>

#include "config/intervals.hpp"
#include "core/process/wait_reason.hpp"
#include "watch/hang_report.hpp"
#include "watch/liveness.hpp"
#include "watch/stall_meter.hpp"

namespace trainrt::watch {

/// Ends an attempt in which ranks hang, and names the late ranks. StallMeter has the time limits.
///
/// Every rank has a HangWatch with a thread that wakes about once a second:
/// - If the train thread makes no progress, each rank writes logs/hang-attempt-000003/rank-00002.txt with its step, the
///   operation that it waits in, and the stacks of its threads.
/// - A few seconds later, the rank that is the first to create verdict.txt in that folder names the late ranks, records
///   the verdict and ends the job step. If that rank fails to end the step, another rank does.
/// - A rank without a report is stopped, dead or on a lost node. If all ranks have reported, and one is excused or has
///   made progress, the rank that created verdict.txt cancels the alarm.
///
/// No rank depends on another: if even the storage does not answer, SIGALRM ends the process.
class HangWatch {
 public:
  struct Limits {
    config::LimitOption hang_timeout;
    double collective_timeout_s = 0;
  };
  struct Attempt {
    std::string run_dir;
    std::string folder;  ///< folder of the reports, relative to the run directory: "logs/hang-attempt-000003"
    int rank = 0;
    std::vector<std::string> host_of_rank;  ///< host name of each rank
  };
  /// Functions that the HangWatch calls on its own thread.
  struct Actions {
    /// Returns, within 2 s, the position of execution in the program that the rank runs; empty if there is no program.
    std::function<StartedProgram()> program = {};
    /// records the verdict in the run directory
    std::function<void(const std::string& why, const HangVerdict& verdict)> write_down;
    std::function<void()> end_step;  ///< ends the job step; returns only if the ranks are threads of one process
  };

  /// Starts to watch the calling thread, which must be the train thread. `life` must outlive this object.
  HangWatch(const Limits& limits, Attempt attempt, const Liveness& life, Actions actions);
  ~HangWatch();
  HangWatch(const HangWatch&) = delete;
  HangWatch& operator=(const HangWatch&) = delete;

 private:
  /// The progress of this rank at the time when it raised the hang alarm.
  struct Suspicion {
    double quiet_s = 0;
    std::uint64_t updates = 0;  ///< number of progress updates (Liveness::Snapshot::updates) before the alarm
    bool is_excused = false;    ///< the rank's operation may take long: a cancelled alarm is then not logged
  };
  void watch();
  bool raise_alarm(const StallMeter& meter);
  bool decide(const Suspicion& suspicion);
  void log_stacks(const HangVerdict& verdict) const;
  bool follow_others();
  bool is_cancelled();
  void write_report(const StallMeter& meter) const;
  void cancel_alarm(bool warns);
  bool ends_within(double seconds);

  Attempt attempt_;
  const Liveness& life_;
  Actions actions_;
  config::LimitOption option_;
  double collective_timeout_s_;
  double tick_s_;
  std::string folder_;
  pid_t train_thread_;
  const WaitReason& note_;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool ending_ = false;
  std::thread thread_;  // declared last, because the thread uses the other members
};

}  // namespace trainrt::watch
