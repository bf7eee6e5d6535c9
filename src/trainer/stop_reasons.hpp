#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include <trainrt/communicator.hpp>
#include <trainrt/state.hpp>

#include "batch/lease.hpp"
#include "batch/stop_cause.hpp"
#include "config/run_spec.hpp"
#include "config/stop_rules.hpp"
#include "trainer/stop_margin.hpp"

namespace trainrt::trainer {

/// Why one rank wants the run to stop, if it does: a signal came, the job's time is nearly over, or the run is done before
/// its train function says so (a rule of [stop], or request()). The vote makes it the stop of all ranks. Only the train
/// thread uses it.
class StopReasons {
 public:
  /// `lease`: of the job, on the rank that watches it; must live longer.
  StopReasons(const config::RunSpec& spec, const batch::Lease* lease);

  /// What the rules remember becomes part of the state.
  void attach(State& state) { rules_.attach(state); }
  /// After a restore: a run that had ended early, under the same settings, ends again. `state` tells how long a save may
  /// take.
  void take_restored(const State& state);

  /// The run is done; the first reason counts.
  void request(std::string_view reason);
  /// True where the numbers of a report meet a rule, which is a request. Once a report.
  bool meets_rule(std::int64_t iteration, const std::map<std::string, double>& metrics);
  /// The run may stop here: the longest time between two such points is part of the margin.
  void note_point();
  StopMargin& margin() { return margin_; }

  /// The weightiest cause that this rank has.
  batch::StopCause cause() const;
  /// The run ends early: of the ranks that ask for that, the first one's reason counts, and belongs into the checkpoint.
  /// Collective. True where the state has changed by that.
  bool agree_on_end(Communicator& communicator);
  /// Says how much time is left, on the rank that knows.
  void say_time_is_up() const;
  /// In words: "SIGUSR1", or the agreed reason of an early end.
  std::string describe(batch::StopCause cause) const;

 private:
  bool time_is_up() const;

  const batch::Lease* lease_;
  config::StopRules rules_;
  StopMargin margin_;
  std::string end_reason_;
  double last_point_s_ = 0;  // 0: not yet
  bool rule_warned_ = false;
};

}  // namespace trainrt::trainer
