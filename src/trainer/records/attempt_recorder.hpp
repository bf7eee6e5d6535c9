#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <trainrt/error.hpp>

#include "comm/agreement.hpp"
#include "config/run_spec.hpp"
#include "io/files/fenced_directory.hpp"
#include "rundir/attempts/attempt.hpp"
#include "rundir/attempts/meter.hpp"
#include "rundir/attempts/run_evidence.hpp"
#include "rundir/records/run_record.hpp"
#include "trainer/start/global_batch.hpp"

namespace trainrt::trainer {

/// Writes the records of a running attempt: the attempt's own record, run.json, params.json and error.txt. Only rank 0 has
/// an AttemptRecorder.
class AttemptRecorder {
 public:
  /// Begins the attempt:
  /// - takes over the run directory, and throws the errors of rundir::Attempt
  /// - calls rundir::checked_evidence() again, since no other attempt can change the directory any more
  /// - calls accept_config() if the run has no checkpoint; otherwise, run.json keeps the run's config until the caller
  ///   calls accept_config()
  /// - removes leftovers of earlier attempts
  ///
  /// `accepts_missing` is true if the config accepts that checkpoints are missing. `bits` are stored in the attempt's
  /// record. `spec` and `meter` must outlive this object.
  AttemptRecorder(const config::RunSpec& spec, const std::string& function, int ranks, std::vector<std::string> nodes,
                  rundir::Meter& meter, bool accepts_missing, rundir::BitFacts bits);

  int number() const { return attempt_.number(); }
  const std::string& run_id() const { return record_.run_id; }
  const std::vector<std::int64_t>& checkpoints() const {
    return evidence_.checkpoints;
  }                                         ///< numbers of existing checkpoints, ascending
  std::int64_t next_checkpoint() const;     ///< number for the next checkpoint; no existing or recorded checkpoint has it
  int workers() const { return workers_; }  ///< number of workers of a global batch; 0: one worker per rank
  const io::FencedDirectory& files() const { return attempt_.files(); }

  /// Logs changes of the config, and writes the config of this attempt to run.json and params.json. In runs of a Python
  /// Trainer, the Python package writes params.json instead. Called after a checkpoint was loaded, since loading may refuse
  /// the config; also called if the run has no checkpoint. `is_resumed` is true if the loaded checkpoint belongs to this
  /// run. Only the first call has an effect.
  void accept_config(bool is_resumed);

  /// Records the end of the attempt in the attempt's record and in run.json. A finished run remains finished in run.json if
  /// the config of the attempt was not accepted.
  void end(rundir::RunState state, const std::string& why, ExitCode code, std::int64_t step,
           const std::string& blamed_node = "");
  /// Records that the attempt failed on all ranks, also in error.txt unless the run remains finished. If a record cannot be
  /// written, the error is only logged.
  void fail(const comm::AgreedError& error, std::int64_t step);

 private:
  void check_evidence();
  void begin_record(const std::string& function, int ranks);
  void set_state(rundir::RunState state, const std::optional<rundir::RunRecord::Completion>& completed_by = {});
  std::optional<rundir::RunRecord::Completion> newest_saved() const;
  bool remains_finished() const { return !is_accepted_ && record_.state == rundir::RunState::finished; }

  const config::RunSpec& spec_;
  const rundir::Meter& meter_;
  rundir::Attempt attempt_;
  rundir::RunEvidence evidence_;
  rundir::RunRecord record_;
  GlobalBatch batch_;
  int workers_ = 0;
  bool is_accepted_ = false;  // whether accept_config() was called
};

}  // namespace trainrt::trainer
