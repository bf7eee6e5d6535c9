#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <trainrt/state.hpp>

#include "config/run_spec.hpp"
#include "io/files/fenced_directory.hpp"
#include "metrics/autofill.hpp"
#include "metrics/record.hpp"
#include "metrics/sink.hpp"
#include "rundir/attempts/meter.hpp"
#include "trainer/events/callbacks.hpp"

namespace trainrt::trainer {

/// Writes the metric records of a run. Rank 0's Reporter writes result.json and the metrics sinks, and notifies the
/// callbacks. The Reporters of other ranks do nothing. Must be used on the train thread, except sync(), which is also
/// called on the thread that writes checkpoints.
class Reporter {
 public:
  virtual ~Reporter() = default;
  /// The progress of the run when an attempt begins to write records.
  struct Start {
    std::int64_t step = 0;           ///< number of completed steps
    std::int64_t iteration = 0;      ///< number of completed iterations
    double iteration_s = 0;          ///< duration so far of the next iteration, in seconds
    bool is_silent_program = false;  ///< the train function is a program that restores its state itself
    std::string reports_of = {};     ///< run directory of another run that made the iterations; "" if this run made them
  };
  /// Opens the files, and removes records after iteration `start.iteration`. Must be called once, before all other
  /// functions except expect().
  virtual void begin(const Start& start) = 0;
  /// Sets the total number of iterations of the run, for the progress display.
  virtual void expect(std::int64_t total) = 0;
  /// Returns whether a sink reads the State at iteration `iteration`.
  virtual bool wants_state(std::int64_t iteration) const = 0;
  /// Passes `state`, which is up to date, to the sinks that read the State. Called before write() of the record of
  /// iteration `iteration`, if wants_state().
  virtual void show(const State& state, std::int64_t iteration) = 0;
  virtual void write(metrics::Record record, std::int64_t step, const metrics::TimeSpent& time) = 0;
  /// Syncs result.json to storage. Called before every commit of a checkpoint.
  virtual void sync() = 0;
  /// Writes the files of the sinks up to the last record. Called after a commit. A failure only causes a warning, since the
  /// files of the sinks can be rebuilt from result.json.
  virtual void update_derived() = 0;
  /// Completes the files of the sinks at the end of the attempt.
  virtual void end() = 0;
};

/// Returns the sinks that config key metrics.sinks names, with checked options. Throws UsageError if a sink is unknown or a
/// section [sink.NAME] is invalid.
std::vector<metrics::ChosenSink> chosen_sinks(const config::RunSpec& spec);

/// Returns the Reporter of rank `rank`. `callbacks` and `meter` must outlive the Reporter.
std::unique_ptr<Reporter> make_reporter(const config::RunSpec& spec, const io::FencedDirectory& run_dir, int rank,
                                        const Callbacks& callbacks, const rundir::Meter& meter);

/// Returns a Reporter that does nothing.
std::unique_ptr<Reporter> make_silent_reporter();

}  // namespace trainrt::trainer
