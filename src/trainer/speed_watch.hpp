#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "comm/timed_communicator.hpp"
#include "core/output_log.hpp"
#include "trainer/run_datasets.hpp"
#include "watch/node_facts.hpp"
#include "watch/step_times.hpp"

namespace trainrt::trainer {

/// Measures what each rank does in a step, and finds the one that holds the others up. The ranks tell each other after
/// every window of steps, a half second long or fifty steps, whichever is longer. Rank 0 says it in a line if it lasts, and
/// keeps the windows in logs/steps-attempt-000003.jsonl. Only the train thread uses it.
class SpeedWatch {
 public:
  struct Scene {
    std::string log;                 ///< the file of the windows; rank 0's
    std::vector<std::string> hosts;  ///< of each rank, for messages
  };
  /// `communicator` and `datasets` must live longer.
  SpeedWatch(comm::TimedCommunicator& communicator, const RunDatasets& datasets, Scene scene);

  /// A step ends here, and the next begins. Collective.
  void end_step(std::int64_t step);

  /// While it lives the rank is at a report or a save, not at the step's computation; one inside another counts as that.
  class At {
   public:
    At(SpeedWatch& watch, watch::Work work);
    ~At();
    At(const At&) = delete;

   private:
    SpeedWatch& watch_;
    std::optional<watch::Work> before_;
  };

 private:
  struct Reading {
    double now_s = 0, calls_s = 0, input_s = 0;
  };
  Reading read() const;
  void book(const Reading& now);
  watch::StepTime step_time(const Reading& now) const;
  void end_window(std::int64_t step);
  void judge(const std::vector<watch::WindowTimes>& ranks, std::int64_t step);
  void say(const watch::SlowRank& slow, const watch::WindowTimes& window) const;
  void keep(const std::vector<watch::WindowTimes>& ranks, const std::optional<watch::SlowRank>& slow, std::int64_t step);

  comm::TimedCommunicator& communicator_;
  const RunDatasets& datasets_;
  Scene scene_;
  OutputLog log_;
  watch::NodeFacts facts_;

  Reading begun_, booked_;  ///< at the beginning of the step; and of the report or save
  std::optional<watch::Work> at_;
  watch::StepTime besides_;  ///< reports and saves of this step, and their waits
  std::vector<watch::StepTime> steps_;
  std::size_t window_;        ///< steps
  std::int64_t skipped_ = 1;  ///< the first step has the start in it

  std::optional<watch::SlowRank> slow_;  ///< of the last window
  std::int64_t slow_steps_ = 0;          ///< how long it has been that one
  bool is_said_ = false;
  double kept_at_s_ = 0, pause_s_ = 0;
};

}  // namespace trainrt::trainer
