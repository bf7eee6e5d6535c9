#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "comm/timed_communicator.hpp"
#include "core/output/output_file.hpp"
#include "watch/node_load.hpp"
#include "watch/step_times.hpp"

namespace trainrt::trainer {

/// Measures how long each rank works in a training step, and finds a rank that slows the others down. The ranks exchange
/// their times after every window of steps: 50 steps or 0.5 s, whichever is longer (longer with hundreds of ranks). If a
/// rank stays slow, rank 0 logs a warning. Rank 0 also writes windows to logs/steps-attempt-000003.jsonl. Must be used by
/// the train thread.
///
/// The ranks compare the time that each works, not the time at which it enters a collective. A slow rank works longer while
/// the others wait for it, and this comparison needs no synchronized clocks.
class SpeedWatch {
 public:
  struct Setup {
    std::string log;                  ///< path of the file of windows, which rank 0 writes
    std::vector<std::string> hosts;   ///< host name of each rank, for messages
    std::function<double()> input_s;  ///< returns the seconds that the train thread has waited for batches so far
    /// Called after each window with the same values on all ranks: the slow rank, if there is one, and the number and
    /// duration of the steps in the window.
    std::function<void(const std::optional<watch::SlowRank>& slow, std::int64_t steps, double seconds)> judged = {};
  };
  /// `communicator` must outlive this object.
  SpeedWatch(comm::TimedCommunicator& communicator, Setup setup);

  /// Ends a step and begins the next. Collective.
  void end_step(std::int64_t step);

  /// A rank that was slow in all windows of the last `steps` steps. The same on all ranks.
  struct Finding {
    watch::SlowRank slow;
    std::int64_t steps = 0;
  };
  const std::optional<Finding>& finding() const { return finding_; }
  /// Returns a text such as "rank 3 (n2) is 19 % slower than the median in forward for 200 steps".
  std::string text_of(const Finding& finding) const;

  /// While an object of this class lives, time counts as work of the given kind, a report or a save, instead of
  /// computation. Objects may be nested: time then counts for the inner one.
  class InWork {
   public:
    InWork(SpeedWatch& watch, watch::Work work);
    ~InWork();
    InWork(const InWork&) = delete;

   private:
    SpeedWatch& watch_;
    std::optional<watch::Work> outer_;
  };

 private:
  struct Reading {
    double now_s = 0, calls_s = 0, input_s = 0;  ///< the time; seconds in collectives and of waiting for batches so far
  };
  Reading read() const;
  void add_rare_work(const Reading& now);
  watch::StepTime step_time(const Reading& now) const;
  void end_window(std::int64_t step);
  void judge(const std::vector<watch::WindowTimes>& ranks);
  void publish(const std::vector<watch::WindowTimes>& ranks, std::int64_t step);
  void warn(const watch::WindowTimes& slow) const;
  void write_window(const std::vector<watch::WindowTimes>& ranks, std::int64_t step);

  comm::TimedCommunicator& communicator_;
  Setup setup_;
  OutputFile log_;
  watch::NodeLoad node_;
  watch::WindowMaker maker_;

  // The current step. Reports and saves are its rare work.
  Reading begun_;                         ///< at the begin of the step
  Reading added_;                         ///< when rare work was last added
  std::optional<watch::Work> rare_work_;  ///< under way
  watch::StepTime rare_times_;            ///< of the rare work so far, including its waits
  double before_first_call_s_ = 0;        ///< duration of the rare work before the step's first collective
  double rare_since_s_ = 0;               ///< when the rare work under way began
  double first_call_s_ = -1;              ///< the step's first collective before that rare work; negative: none
  std::vector<watch::StepTime> steps_;    ///< of the current window
  std::size_t window_;                    ///< length of the window in steps
  std::int64_t skipped_ = 1;              ///< number of steps to skip: the first step includes the start

  std::optional<Finding> finding_;
  int windows_ = 0;  ///< number of windows of the finding
  bool has_warned_ = false;
  bool has_folder_ = false;
  double written_at_s_ = 0, pause_s_ = 0;
};

}  // namespace trainrt::trainer
