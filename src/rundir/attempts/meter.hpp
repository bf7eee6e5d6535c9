#pragma once
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>

#include "rundir/records/attempt_record.hpp"

namespace trainrt::rundir {

/// How an attempt goes on one rank. The train thread writes; any other thread may read. A step costs one store, without a
/// lock: a reader may see the step of one moment beside the iteration of the next.
class Meter {
 public:
  /// The numbers of one moment.
  struct Reading {
    std::int64_t first_step = 0;
    std::int64_t last_step = 0;
    std::int64_t saved_step = -1;        ///< newest in a committed checkpoint, -1 = none
    std::int64_t saved_checkpoint = -1;  ///< that checkpoint's number
    std::int64_t first_iteration = 0;
    std::int64_t saved_iteration = -1;
    std::int64_t iteration = 0;
    bool silent = false;
    std::optional<double> position;  ///< AttemptRecord
    double expected = 0;             ///< AttemptRecord
    double unreported_s = 0;         ///< AttemptRecord
    std::optional<double> job_left_s;
    Timing timing;
  };

  /// `started_s`: when the attempt began, by monotonic_seconds(). `silent`: of a program that may train without a word;
  /// it counts as silent until the first restore, step or report.
  /// `observed`: the output of such a program shows how far it is.
  /// `program_ready_s`: returns when the program was started, or later opened its run, by monotonic_seconds(); < 0: not
  /// yet. Called by any thread. Empty: there is no program.
  explicit Meter(double started_s, bool silent = false, bool observed = false,
                 std::function<double()> program_ready_s = {});

  // --- the train thread ---
  void train_function_began();
  void state_restored();  ///< a State was filled: the first step begins later
  bool train_function_has_begun() const { return began_at_s_.load(std::memory_order_relaxed) >= 0; }
  void spoke();  ///< it is not silent: it restores, steps or reports
  /// Where the attempt begins, and the number of this run's checkpoint that holds that; -1: none does.
  void restored(std::int64_t step, std::int64_t iteration, std::int64_t checkpoint);
  void stepped(std::int64_t step);
  void reported(std::int64_t iteration);
  /// A silent program has shown that it is at `position`, which makes the iteration.
  void observed(double position, std::int64_t iteration);
  /// Where the run will be done: AttemptRecord::expected. Less than 1, or more than any run makes: not known.
  void expect(double total);
  /// So many seconds from now the job's time limit ends it; nullopt: it has none, or it is not known.
  void note_job_left(std::optional<double> seconds);
  void end_observation() { observed_.store(false, std::memory_order_relaxed); }
  void committed(std::int64_t step, std::int64_t iteration, std::int64_t checkpoint);
  void training_ended();
  double stalled_s() const;  ///< in all saves so far, the one under way included
  bool is_silent() const { return silent_.load(std::memory_order_relaxed); }
  bool has_stepped() const { return steps_at_s_.load(std::memory_order_relaxed) >= 0; }  ///< or reported
  /// Returns when the first step can have begun at the earliest, by monotonic_seconds(); < 0: it cannot yet. That is the
  /// last of: the train function was called (of a program: it was started, or called trainrt.context() or fit()), and
  /// its State was restored. What the function does from there to its first step or report counts as that step.
  double steps_begin_s() const;

  /// While it lives the train thread stands still for a save; one inside another counts once.
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
  /// Until something is worth writing down at once (the first word or step, a commit) or so many seconds have passed; false
  /// once release() was called.
  bool wait_for_news(double seconds);
  /// Ends the waiting, for good.
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
  std::atomic<double> position_{-1};                                         // < 0: none seen
  std::atomic<double> began_at_s_{-1}, restored_at_s_{-1}, ended_at_s_{-1};  // < 0: not yet
  std::atomic<double> steps_at_s_{-1};  // steps_begin_s() at the first step or report; < 0: there was none
  std::atomic<double> stalled_s_{0}, stall_at_s_{-1};
  std::atomic<double> expected_{0}, reported_at_s_{-1}, job_ends_at_s_{-1};  // < 0: not known
  int stalls_ = 0;
  std::mutex mutex_;
  std::condition_variable news_;
  bool has_news_ = false;
  bool released_ = false;
};

}  // namespace trainrt::rundir
