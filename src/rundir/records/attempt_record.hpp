#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rundir/records/owner.hpp"
#include "rundir/records/run_state.hpp"

namespace trainrt::rundir {

/// The times of one attempt in seconds, measured by rank 0's clock from the start of its process.
struct Timing {
  double startup_s = 0;     ///< until the first step could begin (Meter::steps_begin_s()): launch, restore
  double steps_s = 0;       ///< from then until the end of the train function, without saves
  double checkpoint_s = 0;  ///< time for which the train thread waited for saves
  double shutdown_s = 0;    ///< after the end of the train function

  double total_s() const { return startup_s + steps_s + checkpoint_s + shutdown_s; }
};

/// Prefix of AttemptRecord::why for attempts that Slurm killed before they could save.
inline constexpr std::string_view ended_by_slurm = "ended by Slurm";

/// The record of one attempt, attempts/000003.json. While the attempt runs, its numbers are in attempts/000003.pulse, the
/// heartbeat file, and readers merge them into the record.
struct AttemptRecord {
  int number = 0;
  Owner owner;
  int ranks = 0;
  std::vector<std::string> nodes;
  std::string start;   ///< UTC; start of rank 0's process
  std::string end;     ///< UTC; "" while it runs, or if it was killed and no other process has noticed yet
  std::string why;     ///< why it ended: "finished", "stopped by SIGUSR1", "failed: ...", "killed: ..."
  int exit_code = -1;  ///< -1: unknown
  /// Node that ended the attempt, because it died, its ranks were killed, crashed or hung, or it was too slow; "" if no
  /// node is to blame, or if it is unknown (older records).
  std::string blamed_node = {};
  std::int64_t first_step = 0;   ///< step at which it began
  std::int64_t last_step = 0;    ///< last completed step
  std::int64_t saved_step = -1;  ///< step of the newest committed checkpoint, or of the restored one; -1: no checkpoint
  std::int64_t saved_checkpoint = -1;  ///< number of that checkpoint; -1: no checkpoint, or unknown (older records)
  std::int64_t first_iteration = 0;    ///< reports made when it began; a train function may count reports and no steps
  std::int64_t saved_iteration = -1;   ///< reports in that checkpoint; -1: no checkpoint
  std::int64_t iteration = 0;          ///< reports made so far
  Timing timing;
  std::string seen;  ///< UTC; time of the last heartbeat, with the numbers above; "" if there was no heartbeat
  /// The program has not called restore, step or report, so its progress is unknown.
  bool silent = false;
  /// Last step, iteration or epoch in the output of a silent program, if its output is read; -1 if it has shown no number.
  std::optional<double> position;
  double expected = 0;      ///< iteration (or `position`) at which the run will be complete; 0: unknown
  double unreported_s = 0;  ///< part of timing.steps_s since the last report
  std::string job_start;    ///< UTC; start of the Slurm job; "" if unknown
  std::string job_end;      ///< UTC; end of the job's time limit; "" if it has no limit, or if it is unknown
  /// The user started it although checkpoints were missing; those that earlier records name no longer count.
  bool accepted_missing = false;

  /// Returns whether the attempt's progress is known.
  bool shows_progress() const { return !silent || (position && *position >= 0); }
};

/// Returns the six digits of an attempt's file names: "000003".
std::string attempt_name(int number);

/// Returns the state of an attempt: running (it has no end), finished, stopped, failed or killed.
RunState state_of(const AttemptRecord& attempt);

/// Returns the reason for an attempt's end that it did not write itself: "killed: it wrote no end (job 17, ...)". `gone` is
/// that attempt's owner, `me` its successor's.
std::string why_without_end(const Owner& gone, const Owner& me);

/// Writes the record as JSON, and reads it. Reading throws std::exception for invalid JSON, times or numbers.
std::string to_text(const AttemptRecord& record);
AttemptRecord attempt_record_from(const std::string& text);

/// Writes the numbers of a heartbeat file as JSON, and merges them into a record. Reading throws std::exception for invalid
/// text, and leaves the record unchanged.
std::string heartbeat_text(const AttemptRecord& record);
void merge_heartbeat_text(AttemptRecord& record, const std::string& text);

}  // namespace trainrt::rundir
