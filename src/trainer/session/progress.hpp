#pragma once
#include <cstdint>
#include <optional>

#include <trainrt/communicator.hpp>
#include <trainrt/state.hpp>

#include "rundir/attempts/meter.hpp"
#include "trainer/saving/committed_checkpoint.hpp"
#include "watch/liveness.hpp"

namespace trainrt::trainer {

/// Stores the progress of a run on one rank: the numbers of completed steps and iterations (reports), and the duration of
/// the current iteration. Passes every change to the attempt's Meter, to life() and to the communicator.
///
/// All functions must be called on the train thread. Any thread may read the object that life() returns.
class Progress {
 public:
  /// `seed` is config key run.seed. `meter` and `communicator` must outlive this object.
  Progress(std::uint64_t seed, rundir::Meter& meter, Communicator& communicator);
  Progress(const Progress&) = delete;

  /// Adds iteration, step, number of ranks and seed to `state`, so that every checkpoint of `state` contains these values.
  /// This object must outlive `state`.
  void attach(State& state);

  std::int64_t step() const { return step_; }
  std::int64_t iteration() const { return iteration_; }
  RunPoint point() const { return {iteration_, step_}; }
  bool has_begun() const { return step_ > 0 || iteration_ > 0; }  ///< a step or an iteration was completed
  bool has_reported() const { return has_reported_; }             ///< this attempt has completed an iteration
  const watch::Liveness& life() const { return life_; }
  watch::Liveness& life() { return life_; }

  void complete_step();
  /// Completes iteration number `iteration`. The next iteration begins now.
  void complete_iteration(std::int64_t iteration);
  /// Returns whether a step was completed since the previous call of this function.
  bool take_stepped();

  /// Sets the step to `position`, which was read from the output of a program that does not use trainrt's API.
  void set_observed_step(double position) { step_ = static_cast<std::int64_t>(position); }
  /// Records that a program without trainrt's API completed iteration number `iteration` at step `position`.
  void complete_observation(double position, std::int64_t iteration);
  /// Sets the number of completed iterations to `iteration`, read from the records of earlier attempts. For attempts in
  /// which the train function has not restored, stepped or reported.
  void set_iteration(std::int64_t iteration) { iteration_ = iteration; }

  /// Records in life() that the train thread is alive, and optionally the phase of the thread's work.
  void stay_alive() { life_.progress(step_); }
  void stay_alive(watch::Phase phase) { life_.progress(step_, phase); }

  /// Sets the beginning of the current iteration to `elapsed_s` seconds ago.
  void begin_iteration(double elapsed_s);
  /// Returns the duration of the current iteration so far, in seconds. Time between attempts does not count.
  double iteration_s() const;

  /// Continues this run from the state that was loaded into the attached State: from checkpoint number `checkpoint`, or
  /// from a newer copy in memory. In the second case, `saved` is the step and iteration of the newest checkpoint, and
  /// `checkpoint` is its number, or -1 if the run has no checkpoint. Throws comm::AgreedError if the run began with another
  /// seed.
  void resume(std::int64_t checkpoint, const std::optional<RunPoint>& saved = std::nullopt);
  /// Starts this run after another run's checkpoint was loaded into the attached State. Keeps the number of iterations if
  /// `continues_iterations` is true, otherwise sets the number to 0.
  void start_from_other_run(bool continues_iterations);

 private:
  std::int64_t iteration_ = 0;
  std::int64_t step_ = 0;
  std::int64_t ranks_;
  std::int64_t seed_;
  const std::int64_t given_seed_;
  rundir::Meter& meter_;
  Communicator& communicator_;
  watch::Liveness life_;
  double iteration_began_s_;  // monotonic_seconds()
  bool has_reported_ = false;
  bool has_stepped_ = false;  // whether a step was completed since the last call of take_stepped()
};

}  // namespace trainrt::trainer
