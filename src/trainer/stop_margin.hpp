#pragma once
#include <array>
#include <cstddef>
#include <optional>

#include "config/run_spec.hpp"

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
  /// nullopt: the run does not stop for the end of its time.
  std::optional<double> seconds() const;

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

  config::LimitOption option_;
  double end_s_;
  double expected_save_ = 0;
  Recent saves_;
  Recent gaps_;
};

}  // namespace trainrt::trainer
