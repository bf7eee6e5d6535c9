#pragma once
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>

#include "rundir/records/attempt_record.hpp"

namespace trainrt::rundir {

/// Measures the progress and times of an attempt on one rank. The train thread writes; any thread may read.
///
/// A step costs one atomic store and no lock, so a reader may see a new iteration together with an older step.
class Meter {
 public:
  /// The values at one moment, with the meaning that they have in AttemptRecord.
  struct Reading {
    std::int64_t first_step = 0;
    std::int64_t last_step = 0;
    std::int64_t saved_step = -1;
    std::int64_t saved_checkpoint = -1;
    std::int64_t first_iteration = 0;
    std::int64_t saved_iteration = -1;
    std::int64_t iteration = 0;
    bool silent = false;
    std::optional<double> position;
    double expected = 0;
    double unreported_s = 0;
    std::optional<double> job_left_s;  ///< seconds until the job's time limit; nothing if it has no limit or is unknown
    Timing timing;
  };

  /// All times are values of monotonic_seconds(). `started_s` is the start of the attempt. `silent`: the attempt runs a
  /// program that may not use trainrt's API; it counts as silent until the first restore, step or report. `observed`: the
  /// output of such a program shows its progress. `program_ready_s` returns when the program was started, or later opened
  /// its run, and a negative number before that; any thread may call it. It is empty if there is no program.
  explicit Meter(double started_s, bool silent = false, bool observed = false,
                 std::function<double()> program_ready_s = {});

  // --- the train thread ---
  void train_function_began();
  void state_restored();  ///< a checkpoint was loaded; the first step begins after this
  bool train_function_has_begun() const { return began_at_s_.load(std::memory_order_relaxed) >= 0; }
  void note_api_call();  ///< the train function restores, steps or reports, so it is not silent
  /// The attempt begins at this step and iteration. `checkpoint` is the number of the run's checkpoint that holds them; -1
  /// if they come from another run.
  void restored(std::int64_t step, std::int64_t iteration, std::int64_t checkpoint);
  void stepped(std::int64_t step);
  void reported(std::int64_t iteration);
  /// The output of a silent program has shown `position`, which is recorded as `iteration`.
  void observed(double position, std::int64_t iteration);
  /// Sets AttemptRecord::expected. A value below 1 or above 2^53 means unknown.
  void expect(double total);
  /// Sets the seconds until the job's time limit; nothing if the job has no limit, or if it is unknown.
  void note_job_left(std::optional<double> seconds);
  void end_observation() { observed_.store(false, std::memory_order_relaxed); }
  void committed(std::int64_t step, std::int64_t iteration, std::int64_t checkpoint);
  void training_ended();
  double stalled_s() const;  ///< seconds waited for all saves so far, including a current one
  bool is_silent() const { return silent_.load(std::memory_order_relaxed); }
  bool has_stepped() const { return steps_at_s_.load(std::memory_order_relaxed) >= 0; }  ///< it has stepped or reported
  /// Returns the earliest time at which the first step could begin, by monotonic_seconds(); negative before that. It is the
  /// later of two times: when the train function was called (for a program: when it was started, or called
  /// trainrt.context() or fit()), and when its State was restored. Everything from then to the first step or report counts
  /// as that step.
  double steps_begin_s() const;

  /// While an object of this class exists, the time counts as waiting for a save. Nested objects count once.
  class Stall {
   public:
    explicit Stall(Meter& meter);
    ~Stall();
    Stall(const Stall&) = delete;
    Stall& operator=(const Stall&) = delete;

   private:
    Meter& meter_;
  };

  // --- any thread ---
  Reading read() const;
  /// Waits until `seconds` have passed, or until the first API call, the first step or a commit. Returns false after
  /// release().
  bool wait_for_update(double seconds);
  /// Ends wait_for_update(), now and for all later calls.
  void release();
  double started_s() const { return started_s_; }

 private:
  void begin_steps();
  void notify();

  const double started_s_;
  const std::function<double()> program_ready_s_;
  std::atomic<std::int64_t> first_step_{0}, last_step_{0}, saved_step_{-1}, saved_checkpoint_{-1};
  std::atomic<std::int64_t> first_iteration_{0}, saved_iteration_{-1}, iteration_{0};
  std::atomic<bool> silent_, observed_;
  std::atomic<double> position_{-1};                                         // < 0: unknown
  std::atomic<double> began_at_s_{-1}, restored_at_s_{-1}, ended_at_s_{-1};  // < 0: not yet
  std::atomic<double> steps_at_s_{-1};  // steps_begin_s() at the first step or report; < 0 before that
  std::atomic<double> stalled_s_{0}, stall_at_s_{-1};
  std::atomic<double> expected_{0}, reported_at_s_{-1}, job_ends_at_s_{-1};  // < 0: not known
  int stalls_ = 0;
  std::mutex mutex_;
  std::condition_variable updated_;
  bool has_update_ = false;
  bool released_ = false;
};

}  // namespace trainrt::rundir
