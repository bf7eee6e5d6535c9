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
#include "core/wait_note.hpp"
#include "watch/hang_report.hpp"
#include "watch/liveness.hpp"
#include "watch/stall_meter.hpp"

namespace trainrt::watch {

/// Ends an attempt in which ranks hang, and says which ones (StallMeter has the limits).
///
/// Every rank has one, with a thread that wakes about once a second. If the train thread gives no sign of progress, each
/// rank writes logs/hang-attempt-000003/rank-00002.txt: where it is, what it waits in, its threads' stacks. A few seconds
/// later the rank that makes verdict.txt there first says who is behind, writes it down, and ends the step; the others end
/// it if that rank does not. Ranks that wrote nothing are those that are stopped, dead or on a lost node. If all have
/// written and one is at something that may take long, or has gone on, the same rank takes the alarm back. No rank relies
/// on another: if even the storage does not answer, SIGALRM ends the process.
class HangWatch {
 public:
  struct Limits {
    config::LimitOption hang_timeout;
    double collective_timeout_s = 0;
  };
  struct Scene {
    std::string run_dir;
    std::string folder;  ///< of the reports, in the run directory: "logs/hang-attempt-000003"
    int rank = 0;
    std::vector<std::string> host_of_rank;  ///< as many as there are ranks
  };
  /// What the rank that found the verdict does, and how a rank ends the step. Called by the watch's thread.
  struct Actions {
    std::function<StartedProgram()> program = {};  ///< finds out within 2 s where it is; none: there is no program
    std::function<void(const std::string& why, const HangVerdict& verdict)> write_down;
    std::function<void()> end_step;  ///< returns if the ranks are threads
  };

  /// On the train thread, which it watches from now on. `life` must outlive it.
  HangWatch(const Limits& limits, Scene scene, const Liveness& life, Actions actions);
  ~HangWatch();
  HangWatch(const HangWatch&) = delete;
  HangWatch& operator=(const HangWatch&) = delete;

 private:
  /// What this rank raised the alarm for.
  struct Suspicion {
    double quiet_s = 0;
    std::uint64_t signs = 0;  ///< of life, so far
    bool is_excused = false;  ///< it is at something that may take long: nothing needs to be said if it goes on
  };
  void watch();
  bool raise_alarm(const StallMeter& meter);
  bool decide(const Suspicion& suspicion);
  bool follow_others();
  bool is_cleared_away();
  void write_report(const StallMeter& meter) const;
  void take_back(bool says_so);
  bool ends_within(double seconds);

  Scene scene_;
  const Liveness& life_;
  Actions actions_;
  config::LimitOption option_;
  double collective_timeout_s_;
  double tick_s_;
  std::string folder_;
  pid_t train_thread_;
  const WaitNote& note_;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool ending_ = false;
  std::thread thread_;  // last: it uses the rest
};

}  // namespace trainrt::watch
