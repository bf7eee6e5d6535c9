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

/// What rank 0 keeps of an attempt while it runs: the attempt itself, run.json, params.json, error.txt; the other ranks
/// have none.
class Records {
 public:
  /// Claims the run directory (Attempt says what it throws), looks once more at what is there now that nobody else changes
  /// it (checked_evidence()), says what has changed in the config, and clears away what earlier attempts left. `accepts`:
  /// missing checkpoints have been accepted. `meter` must live longer than this.
  Records(const config::RunSpec& spec, const std::string& function, int ranks, std::vector<std::string> nodes,
          rundir::Meter& meter, bool accepts);

  int number() const { return attempt_.number(); }
  const std::string& run_id() const { return record_.run_id; }
  const std::vector<std::int64_t>& checkpoints() const { return evidence_.checkpoints; }  ///< that are there, ascending
  std::int64_t next_checkpoint() const;     ///< a number that none has, listed here or known by a record
  int workers() const { return workers_; }  ///< that global batches are made for; 0: as many as there are ranks
  const io::FencedDirectory& files() const { return attempt_.files(); }

  void end(rundir::RunState state, const std::string& why, ExitCode code, std::int64_t step,
           const std::string& blamed_node = "");
  /// The run failed on all ranks. Storage that is full or away cannot keep that from being said.
  void fail(const Error& error, std::int64_t step);

 private:
  void look_again(const config::RunSpec& spec);
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
