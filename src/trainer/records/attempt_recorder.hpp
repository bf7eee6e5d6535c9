#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <trainrt/error.hpp>

#include "config/run_spec.hpp"
#include "io/files/fenced_directory.hpp"
#include "rundir/attempts/attempt.hpp"
#include "rundir/attempts/meter.hpp"
#include "rundir/attempts/run_evidence.hpp"
#include "rundir/records/run_record.hpp"

namespace trainrt::trainer {

/// Writes the records of a running attempt: the attempt's own record, run.json, params.json and error.txt. Only rank 0 has
/// an AttemptRecorder.
class AttemptRecorder {
 public:
  /// Begins the attempt:
  /// - takes over the run directory, and throws the errors of rundir::Attempt
  /// - calls rundir::checked_evidence() again, since no other attempt can change the directory any more
  /// - logs changes of the config, and writes run.json and params.json
  /// - removes leftovers of earlier attempts
  ///
  /// `accepts_missing` is true if the config accepts that checkpoints are missing. `meter` must outlive this object.
  AttemptRecorder(const config::RunSpec& spec, const std::string& function, int ranks, std::vector<std::string> nodes,
                  rundir::Meter& meter, bool accepts_missing);

  int number() const { return attempt_.number(); }
  const std::string& run_id() const { return record_.run_id; }
  const std::vector<std::int64_t>& checkpoints() const {
    return evidence_.checkpoints;
  }                                         ///< numbers of existing checkpoints, ascending
  std::int64_t next_checkpoint() const;     ///< number for the next checkpoint; no existing or recorded checkpoint has it
  int workers() const { return workers_; }  ///< number of workers for which global batches are made; 0: the number of ranks
  const io::FencedDirectory& files() const { return attempt_.files(); }

  /// Records the end of the attempt in the attempt's record and in run.json.
  void end(rundir::RunState state, const std::string& why, ExitCode code, std::int64_t step,
           const std::string& blamed_node = "");
  /// Records that the attempt failed on all ranks. If a record cannot be written, the error is only logged.
  void fail(const Error& error, std::int64_t step);

 private:
  void check_evidence(const config::RunSpec& spec);
  void begin_record(const config::RunSpec& spec, const std::string& function, int ranks);
  void set_state(rundir::RunState state, const std::optional<rundir::RunRecord::Completion>& completed_by = {});
  std::optional<rundir::RunRecord::Completion> newest_saved() const;

  const rundir::Meter& meter_;
  rundir::Attempt attempt_;
  rundir::RunEvidence evidence_;
  rundir::RunRecord record_;
  int workers_ = 0;
};

}  // namespace trainrt::trainer
