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

/// Measures how long each rank works in a training step, and finds a rank that slows the other ranks down. The ranks
/// exchange their times after every window of steps. A window is 50 steps or 0.5 s, whichever is longer, and longer with
/// hundreds of ranks. If a rank stays slow, rank 0 logs a warning. Rank 0 also writes windows to a file such as
/// logs/steps-attempt-000003.jsonl. Must be used by the train thread.
///
/// The ranks compare working times. A slow rank works longer, while the other ranks wait in collectives. Comparing
/// durations needs no synchronized clocks.
class SpeedWatch {
 public:
  struct Setup {
    std::string log;                  ///< path of the file to which rank 0 writes windows
    std::vector<std::string> hosts;   ///< host name of each rank, for messages
    std::function<double()> input_s;  ///< returns the seconds that the train thread has waited for batches so far
    /// Called after each window with the slow rank, if there is one, and the number and total duration of the steps in the
    /// window. All ranks get the same values.
    std::function<void(const std::optional<watch::SlowRank>& slow, std::int64_t steps, double seconds)> judged = {};
  };
  /// `communicator` must outlive this object.
  SpeedWatch(comm::TimedCommunicator& communicator, Setup setup);

  /// Ends training step number `step` and begins the next step. Collective.
  void end_step(std::int64_t step);

  /// A rank that was slow in all windows of the last `steps` steps. All ranks find the same rank.
  struct Finding {
    watch::SlowRank slow;
    std::int64_t steps = 0;
  };
  const std::optional<Finding>& finding() const { return finding_; }
  /// Describes a finding: "rank 3 (n2) is 19 % slower than the median in forward for 200 steps".
  std::string text_of(const Finding& finding) const;

  /// While an InWork object exists, time counts as a report or a save instead of computation. Objects may be nested; time
  /// then counts as the kind of the inner object.
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
    double now_s = 0, calls_s = 0, input_s = 0;  ///< time; seconds spent in collectives; seconds spent waiting for batches
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

  // Measurements of the current step. Rare work is a report or a save.
  Reading begun_;                         ///< reading at the begin of the step
  Reading added_;                         ///< reading at the last call of add_rare_work()
  std::optional<watch::Work> rare_work_;  ///< kind of the running rare work
  watch::StepTime rare_times_;            ///< times of the step's rare work so far, including its waits
  double before_first_call_s_ = 0;        ///< duration of the rare work before the step's first collective
  double rare_since_s_ = 0;               ///< time at which the running rare work began
  double first_call_s_ = -1;  ///< time of the step's first collective, before rare work; negative: no collective yet
  std::vector<watch::StepTime> steps_;  ///< times of the steps in the current window
  std::size_t window_;                  ///< length of the window in steps
  std::int64_t skipped_ = 1;            ///< number of steps that are not measured: the first step includes the start

  std::optional<Finding> finding_;
  int windows_ = 0;  ///< number of consecutive windows with this finding
  bool has_warned_ = false;
  bool has_folder_ = false;
  double written_at_s_ = 0, pause_s_ = 0;
};

}  // namespace trainrt::trainer
