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

/// Measures what each rank does in a step, and finds the one that holds the others up. The ranks tell each other after
/// every window of steps: fifty steps or half a second, whichever is longer (with hundreds of ranks longer). Rank 0 says it
/// in a line if it lasts, and keeps windows in logs/steps-attempt-000003.jsonl. Only the train thread uses it.
///
/// A rank that is slow arrives late at collectives, and the others wait for it there: what it does itself in a step takes
/// longer than the same of the others. Its own time is therefore compared, and not its arrival, for which clocks of nodes
/// would have to agree.
class SpeedWatch {
 public:
  struct Scene {
    std::string log;                  ///< the file of the windows; rank 0's
    std::vector<std::string> hosts;   ///< of each rank, for messages
    std::function<double()> input_s;  ///< how long the train thread has waited for batches so far
    /// Told after each window, on all ranks the same: who was slow in so many steps, and how long they took.
    std::function<void(const std::optional<watch::SlowRank>& slow, std::int64_t steps, double seconds)> judged = {};
  };
  /// `communicator` must live longer.
  SpeedWatch(comm::TimedCommunicator& communicator, Scene scene);

  /// A step ends here, and the next begins. Collective.
  void end_step(std::int64_t step);

  /// The rank that has held the others up in all windows of so many steps; the same on all ranks.
  struct Finding {
    watch::SlowRank slow;
    std::int64_t steps = 0;
  };
  const std::optional<Finding>& finding() const { return finding_; }
  /// "rank 3 (n2) is 19 % slower than the median in forward for 200 steps"
  std::string text_of(const Finding& finding) const;

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
  void judge(const std::vector<watch::WindowTimes>& ranks);
  void tell(const std::vector<watch::WindowTimes>& ranks, std::int64_t step);
  void say(const watch::WindowTimes& slow) const;
  void keep(const std::vector<watch::WindowTimes>& ranks, std::int64_t step);

  comm::TimedCommunicator& communicator_;
  Scene scene_;
  OutputFile log_;
  watch::NodeLoad node_;
  watch::WindowMaker maker_;

  Reading begun_, booked_;  ///< at the beginning of the step; and of the report or save
  std::optional<watch::Work> at_;
  watch::StepTime besides_;         ///< reports and saves of this step, and their waits
  double before_first_call_s_ = 0;  ///< of those: what came before the step's first collective
  double away_at_s_ = 0;            ///< when the report or save under way began, or the step in it
  double first_call_s_ = -1;        ///< and the step's first collective before it; < 0: there was none
  std::vector<watch::StepTime> steps_;
  std::size_t window_;        ///< steps
  std::int64_t skipped_ = 1;  ///< the first step has the start in it

  std::optional<Finding> finding_;
  int windows_ = 0;  ///< of the finding
  bool is_said_ = false;
  bool has_folder_ = false;
  double kept_at_s_ = 0, pause_s_ = 0;
};

}  // namespace trainrt::trainer
