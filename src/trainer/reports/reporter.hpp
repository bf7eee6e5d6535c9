#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include <trainrt/communicator.hpp>
#include <trainrt/metrics.hpp>
#include <trainrt/state.hpp>

#include "config/run_spec.hpp"
#include "io/files/fenced_directory.hpp"
#include "metrics/autofill.hpp"
#include "metrics/record.hpp"
#include "metrics/sink.hpp"
#include "rundir/attempts/meter.hpp"
#include "trainer/events/callbacks.hpp"

namespace trainrt::trainer {

/// Where aggregated reports go. Rank 0's writes the log of record and the sinks; the other ranks' does nothing: which one
/// it is is decided once, when it is made.
class Reporter {
 public:
  virtual ~Reporter() = default;
  /// Where a run stands: it has made so many steps and iterations, and the next iteration has taken `iteration_s` seconds
  /// so far, in earlier attempts.
  struct Start {
    std::int64_t step = 0;
    std::int64_t iteration = 0;
    double iteration_s = 0;
    bool of_silent_program = false;  ///< which goes on from what it saved by itself
    std::string other_run = {};      ///< the directory of a run that made those iterations; "": this one
  };
  /// Opens the files. Records after the iteration are dropped.
  virtual void begin(const Start& start) = 0;
  virtual void expect(std::int64_t total) = 0;  ///< iterations of the whole run
  /// Shows the State as it is at the report of an iteration, before its write(), to sinks that want it.
  virtual void show(const State& state, std::int64_t iteration) = 0;
  virtual void write(metrics::Record record, std::int64_t step, const metrics::TimeSpent& time) = 0;
  /// The log of record is on disk when it returns. Before every commit.
  virtual void sync() = 0;
  /// Derived files are brought up to date, after a commit. If that fails it is said, and the run goes on: they can be
  /// made anew from the log of record.
  virtual void update_derived() = 0;
  virtual void end() = 0;
};

/// The sinks that the config names. UsageError if there is no such sink, or its section is not valid.
std::vector<metrics::ChosenSink> chosen_sinks(const config::RunSpec& spec);

/// `callbacks` are told of each report once it is written; `meter` tells how the attempt goes on. Both live longer.
std::unique_ptr<Reporter> make_reporter(const config::RunSpec& spec, const io::FencedDirectory& run_dir, int rank,
                                        const Callbacks& callbacks, const rundir::Meter& meter);

/// For what reports nothing.
std::unique_ptr<Reporter> make_silent_reporter();

/// The record of one report: its numbers over all ranks (metrics/aggregate.hpp has the rules). Collective. AgreedError that
/// names key and rank if the ranks' keys differ.
metrics::Record aggregate_report(const Metrics& metrics, std::int64_t iteration, Communicator& communicator);

/// The record of a report in which rank 0's metrics count, as they are: no number is changed. Collective. AgreedError if
/// rank 0 gives what is none.
metrics::Record first_rank_report(const Metrics& metrics, std::int64_t iteration, Communicator& communicator);

/// What each rank has given a report, as it is, in rank order; nothing for a rank that gave what is none. Collective.
std::vector<metrics::Record> reports_of_ranks(const Metrics& metrics, std::int64_t iteration, Communicator& communicator);

}  // namespace trainrt::trainer
