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

/// Computes the stop margin: the number of seconds before the end of the job at which a run must begin to stop. The margin
/// is the time for the last checkpoint and for the request of a requeue. Config key failure.stop_before_end sets the
/// margin. If the key is `auto`, the margin is the sum of
/// - 15 s for the vote, the end of the ranks and scontrol
/// - the time that a program may take to end
/// - twice the maximum duration of the last saves
/// - twice the maximum time between two stop points (points at which the run may stop)
class StopMargin {
 public:
  /// `option` is config key failure.stop_before_end. `end_s` is the number of seconds that a program may take to end after
  /// a stop; 0 if the train function is not a program.
  explicit StopMargin(config::LimitOption option, double end_s = 0) : option_(option), end_s_(end_s) {}

  void expect_save(double seconds) { expected_save_s_ = seconds; }  ///< used until the first save is measured
  void note_save(double seconds) { saves_.add(seconds); }
  void note_gap(double seconds) { gaps_.add(seconds); }

  double max_save_s() const { return saves_.empty() ? expected_save_s_ : saves_.max(); }
  /// Returns the margin in seconds, at most half of the job's length `job_s`; nullopt if failure.stop_before_end is off.
  std::optional<double> seconds(std::optional<double> job_s = std::nullopt) const;
  /// Returns a warning if the job, `job_s` seconds long, has less time for training than for the wanted margin;
  /// otherwise "".
  std::string warning_for(double job_s) const;

 private:
  /// Stores the last eight durations, in seconds.
  class Recent {
   public:
    void add(double seconds) { values_[count_++ % values_.size()] = seconds; }
    bool empty() const { return count_ == 0; }
    double max() const;

   private:
    std::array<double, 8> values_{};
    std::size_t count_ = 0;
  };

  std::optional<double> wanted_seconds() const;

  config::LimitOption option_;
  double end_s_;
  double expected_save_s_ = 0;
  Recent saves_;
  Recent gaps_;
};

/// Returns the stop margin of a run before its first save.
StopMargin stop_margin(const config::RunSpec& spec);

/// Decides whether this rank wants the run to stop, and for which reason: a signal, the end of the job's time, a slow node,
/// a rule of config section [stop], or request(). A vote of all ranks then decides whether the run stops. Must be used on
/// the train thread.
class StopReasons {
 public:
  /// `lease` has the time left in the job. `lease` must outlive this object, and is nullptr on ranks that do not watch the
  /// job. `hosts` has the node name of each rank.
  StopReasons(const config::RunSpec& spec, const batch::Lease* lease, std::vector<std::string> hosts = {});

  /// Adds the values that the rules of [stop] need for later reports to `state`, so that checkpoints contain these values.
  void attach(State& state) { rules_.attach(state); }
  /// Reads the restored `state`. If the run had ended early with the same [loop] and [stop] settings, requests the same end
  /// again. Computes the expected duration of the first save from the size of `state`.
  void take_restored(const State& state);

  /// Requests that the run ends early, in state finished. The first request determines the recorded reason.
  void request(std::string_view reason);
  /// Returns whether the metrics of a report meet a rule of [stop], and requests the end of the run if they do. Must be
  /// called once per report.
  bool meets_rule(std::int64_t iteration, const std::map<std::string, double>& metrics);
  /// Passes the slow rank in a window of training steps, if there is one, to the SlowNodeWatch, which may then request
  /// a stop.
  void take_window(const std::optional<watch::SlowRank>& slow, std::int64_t steps, double seconds) {
    slow_nodes_.add_window(slow, steps, seconds);
  }
  /// Returns the name of the slow node for which the run stops; "" if no node was found to be slow.
  std::string slow_node() const { return slow_nodes_.found() != nullptr ? slow_nodes_.found()->node : ""; }
  /// Records a stop point, a point at which the run may stop. The stop margin includes the maximum time between two stop
  /// points.
  void note_point();
  /// Logs a warning once if the stop margin is long compared to the job (StopMargin::warning_for()).
  void warn_of_margin();
  StopMargin& margin() { return margin_; }

  /// Returns this rank's cause for a stop, or batch::no_stop. If there are several causes, returns the cause with the
  /// highest number in batch::StopCause.
  batch::StopCause cause() const;
  /// Sets the reason of an early end, on all ranks, to the reason of the lowest rank that has a reason, and stores this
  /// reason in the State. Returns whether the State has changed. Collective.
  bool agree_on_end(Communicator& communicator);
  /// Logs the time left of the job and the stop margin, on the rank that watches the job.
  void log_time_left() const;
  /// Returns a cause as text: the name of the signal, such as "SIGUSR1", or the reason of an early end.
  std::string describe(batch::StopCause cause) const;

 private:
  bool is_time_up() const;
  std::optional<double> job_seconds() const { return lease_ != nullptr ? lease_->length() : std::nullopt; }

  const batch::Lease* lease_;
  config::StopRules rules_;
  StopMargin margin_;
  SlowNodeWatch slow_nodes_;
  std::string end_reason_;
  double last_point_s_ = 0;  // 0: no call of note_point() so far
  bool has_warned_of_rule_ = false;
  bool has_warned_of_margin_ = false;
};

}  // namespace trainrt::trainer
