#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <trainrt/communicator.hpp>
#include <trainrt/state.hpp>

#include "batch/lease.hpp"
#include "batch/stop_cause.hpp"
#include "config/run_spec.hpp"
#include "config/stop_rules.hpp"
#include "trainer/watching/slow_node.hpp"

namespace trainrt::trainer {

/// How long before the end of the job's time a run has to begin its stop, so that the checkpoint of the stop is committed
/// and the requeue is asked for in time: failure.stop_before_end. `auto` is 15 s (the vote, the end of the ranks,
/// scontrol), what a program may take to end, and twice the longest of the last saves, and twice the longest of the last
/// gaps between two points where the run may stop.
class StopMargin {
 public:
  /// `end_s`: what the train function may take to end after the stop, as programs do.
  explicit StopMargin(config::LimitOption option, double end_s = 0) : option_(option), end_s_(end_s) {}

  /// What a save is taken to last until one has been measured.
  void expect_save(double seconds) { expected_save_ = seconds; }
  void note_save(double seconds) { saves_.note(seconds); }
  void note_gap(double seconds) { gaps_.note(seconds); }

  double longest_save() const { return saves_.empty() ? expected_save_ : saves_.longest(); }
  /// Returns nullopt if the run does not stop for the end of its time. At most half of a job that is `job_s` long, if the
  /// time would be all of it.
  std::optional<double> seconds(std::optional<double> job_s = std::nullopt) const;
  /// A sentence if all of a job that is `job_s` long would be too little; else "".
  std::string complaint(double job_s) const;

 private:
  /// The last few durations.
  class Recent {
   public:
    void note(double seconds) { values_[count_++ % values_.size()] = seconds; }
    bool empty() const { return count_ == 0; }
    double longest() const;

   private:
    std::array<double, 8> values_{};
    std::size_t count_ = 0;
  };

  std::optional<double> wanted_seconds() const;

  config::LimitOption option_;
  double end_s_;
  double expected_save_ = 0;
  Recent saves_;
  Recent gaps_;
};

/// Why one rank wants the run to stop, if it does: a signal came, the job's time is nearly over, a node is
/// too slow, or the run is done before its train function says so (a rule of [stop], or request()). The vote makes it the
/// stop of all ranks. Only the train thread uses it.
class StopReasons {
 public:
  /// `lease`: of the job, on the rank that watches it; must live longer. `hosts`: the node of each rank.
  StopReasons(const config::RunSpec& spec, const batch::Lease* lease, std::vector<std::string> hosts = {});

  /// What the rules remember becomes part of the state.
  void attach(State& state) { rules_.attach(state); }
  /// After a restore: a run that had ended early, under the same settings, ends again. `state` tells how long a save may
  /// take.
  void take_restored(const State& state);

  /// The run is done; the first reason counts.
  void request(std::string_view reason);
  /// True if the numbers of a report meet a rule, which is a request. Once a report.
  bool meets_rule(std::int64_t iteration, const std::map<std::string, double>& metrics);
  /// SlowNodeWatch::add_window()
  void take_window(const std::optional<watch::SlowRank>& slow, std::int64_t steps, double seconds) {
    slow_nodes_.add_window(slow, steps, seconds);
  }
  /// The node that the run stops for; "" if there is none.
  std::string slow_node() const { return slow_nodes_.found() != nullptr ? slow_nodes_.found()->node : ""; }
  /// The run may stop here: the longest time between two such points is part of the margin.
  void note_point();
  StopMargin& margin() { return margin_; }

  /// The weightiest cause that this rank has.
  batch::StopCause cause() const;
  /// The run ends early: of the ranks that ask for that, the first one's reason counts, and belongs into the checkpoint.
  /// Collective. True if the state has changed by that.
  bool agree_on_end(Communicator& communicator);
  /// Says how much time is left, on the rank that knows.
  void say_time_is_up() const;
  /// In words: "SIGUSR1", or the agreed reason of an early end.
  std::string describe(batch::StopCause cause) const;

 private:
  bool time_is_up() const;
  std::optional<double> job_seconds() const { return lease_ != nullptr ? lease_->length() : std::nullopt; }

  const batch::Lease* lease_;
  config::StopRules rules_;
  StopMargin margin_;
  SlowNodeWatch slow_nodes_;
  std::string end_reason_;
  double last_point_s_ = 0;  // 0: not yet
  bool rule_warned_ = false;
  bool margin_warned_ = false;
};

}  // namespace trainrt::trainer
