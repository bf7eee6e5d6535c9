#pragma once
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>

#include "rundir/records/attempt_record.hpp"

namespace trainrt::rundir {

/// Measures the progress and times of an attempt on one rank. The train thread (the thread that runs the train function)
/// updates a Meter; any thread may read it.
///
/// The recording of a step is one atomic store without a lock. A reader may therefore see a new iteration together with an
/// older step.
class Meter {
 public:
  /// The values of a meter at one moment. Fields have the meaning of the fields of AttemptRecord with the same names.
  struct Reading {
    std::int64_t first_step = 0;
    std::int64_t last_step = 0;
    std::int64_t saved_step = -1;
    std::int64_t saved_checkpoint = -1;
    std::int64_t first_iteration = 0;
    std::int64_t saved_iteration = -1;
    std::int64_t iteration = 0;
    bool from_copy = false;
    bool silent = false;
    std::optional<double> position;
    double expected = 0;
    double unreported_s = 0;
    /// seconds until the Slurm job's time limit; nothing if the job has no limit, or if the limit is unknown
    std::optional<double> job_left_s;
    Timing timing;
  };

  /// All times are values of monotonic_seconds().
  /// - `started_s`: start of the attempt.
  /// - `silent`: the attempt runs a program that may not use trainrt's API. The program counts as silent until it restores,
  ///   steps or reports, unless note_reporting_run() is called.
  /// - `observed`: progress is read from the output of such a program.
  /// - `program_ready_s`: returns the time at which the program was started or, later, at which it opened its run. Returns
  ///   a negative number before that. May be called on any thread. Empty if the attempt runs no program.
  explicit Meter(double started_s, bool silent = false, bool observed = false,
                 std::function<double()> program_ready_s = {});

  // --- functions called on the train thread ---
  void train_function_began();
  void state_restored();  ///< records that the State was restored; the first step begins after this call
  bool train_function_has_begun() const { return began_at_s_.load(std::memory_order_relaxed) >= 0; }
  void note_api_call();  ///< records a call of restore, step or report, so that the program is not silent
  /// Records that earlier attempts of the run used trainrt's API, so that the program is not silent even before its first
  /// call.
  void note_reporting_run() { run_reports_.store(true, std::memory_order_relaxed); }
  /// Records the step and iteration at which the attempt begins. They were restored from checkpoint number `checkpoint`
  /// of the run; -1 if they were restored from another run's checkpoint.
  void restored(std::int64_t step, std::int64_t iteration, std::int64_t checkpoint);
  /// Records that the attempt begins from a copy of the State in memory. Called after restored(), or instead of it.
  void note_copy() { from_copy_.store(true, std::memory_order_relaxed); }
  void stepped(std::int64_t step);
  void reported(std::int64_t iteration);
  /// Records that the output of a program that does not use trainrt's API has mentioned `position` (a step, iteration or
  /// epoch). `iteration` is the number of the run's metric records, including the record of this position.
  void observed(double position, std::int64_t iteration);
  /// Sets the number of iterations after which the run will be complete (AttemptRecord::expected). A value below 1 or above
  /// 2^53 means unknown.
  void expect(double total);
  /// Sets the seconds until the time limit of the Slurm job; nothing if the job has no limit, or if the limit is unknown.
  void note_job_left(std::optional<double> seconds);
  void end_observation() { observed_.store(false, std::memory_order_relaxed); }
  void committed(std::int64_t step, std::int64_t iteration, std::int64_t checkpoint);
  void training_ended();
  double stalled_s() const;  ///< seconds that the train thread has waited for saves so far, including a present wait
  bool is_silent() const {
    return silent_.load(std::memory_order_relaxed) && !run_reports_.load(std::memory_order_relaxed);
  }
  /// true after the attempt's first step or report
  bool has_stepped() const { return steps_at_s_.load(std::memory_order_relaxed) >= 0; }
  /// Returns the earliest time at which the first step could begin, as a value of monotonic_seconds(); a negative number if
  /// this time has not come. It is the later of two times:
  /// - the call of the train function; for a program: its start, or its later call of trainrt.context() or fit();
  /// - the restoring of the State.
  ///
  /// The time from then to the end of the first step or report counts as part of that step.
  double steps_begin_s() const;

  /// Scope guard: while an object of this class exists, the meter counts the time as a wait for a save. The time of nested
  /// objects counts once. Used on the train thread.
  class Stall {
   public:
    explicit Stall(Meter& meter);
    ~Stall();
    Stall(const Stall&) = delete;
    Stall& operator=(const Stall&) = delete;

   private:
    Meter& meter_;
  };

  // --- functions called on any thread ---
  Reading read() const;
  /// Waits until `seconds` have passed or one of these events happens: the program's first API call, the first step, the
  /// commit of a checkpoint. Returns false if release() was called.
  bool wait_for_update(double seconds);
  /// Wakes the thread that waits in wait_for_update(), and makes all later calls of wait_for_update() return at once.
  void release();
  double started_s() const { return started_s_; }

 private:
  void begin_steps();
  void notify();

  const double started_s_;
  const std::function<double()> program_ready_s_;
  std::atomic<std::int64_t> first_step_{0}, last_step_{0}, saved_step_{-1}, saved_checkpoint_{-1};
  std::atomic<std::int64_t> first_iteration_{0}, saved_iteration_{-1}, iteration_{0};
  std::atomic<bool> silent_, observed_;  // `silent_`: a program that has made no API call in this attempt
  std::atomic<bool> run_reports_{false}, from_copy_{false};
  std::atomic<double> position_{-1};                                         // < 0: position unknown
  std::atomic<double> began_at_s_{-1}, restored_at_s_{-1}, ended_at_s_{-1};  // negative before the event
  std::atomic<double> steps_at_s_{-1};  // value of steps_begin_s() at the first step or report; negative before that
  std::atomic<double> stalled_s_{0}, stall_at_s_{-1};
  // expected_: total number of iterations, 0 if unknown; the times of the last report and the job's end: negative if
  // unknown
  std::atomic<double> expected_{0}, reported_at_s_{-1}, job_ends_at_s_{-1};
  int stalls_ = 0;
  std::mutex mutex_;
  std::condition_variable updated_;
  bool has_update_ = false;
  bool released_ = false;
};

}  // namespace trainrt::rundir
