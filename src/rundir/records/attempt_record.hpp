#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/mistake.hpp"
#include "rundir/records/bit_facts.hpp"
#include "rundir/records/next_start.hpp"
#include "rundir/records/owner.hpp"
#include "rundir/records/run_state.hpp"

namespace trainrt::rundir {

/// The wall time of one attempt in seconds, divided into phases. Measured on rank 0, from the start of its process.
struct Timing {
  double startup_s = 0;  ///< launch and restore: until the first training step could begin (Meter::steps_begin_s())
  double steps_s = 0;  ///< training: from the end of the startup to the end of the train function, without waits for saves
  double checkpoint_s = 0;  ///< time for which the train thread waited for checkpoints to be saved
  double shutdown_s = 0;    ///< shutdown: after the end of the train function

  double total_s() const { return startup_s + steps_s + checkpoint_s + shutdown_s; }
};

/// Prefix of AttemptRecord::why in records of attempts that Slurm killed before they could save a checkpoint.
inline constexpr std::string_view ended_by_slurm = "ended by Slurm";

/// The record of one attempt (one start) of a run, stored in the file attempts/000003.json. While the attempt runs, its
/// progress and times are in the heartbeat file attempts/000003.pulse, and readers merge them into the record.
struct AttemptRecord {
  int number = 0;
  Owner owner;
  int ranks = 0;
  std::vector<std::string> nodes;
  std::string address = {};          ///< IPv4 address of rank 0's host; "" if unknown (records of older versions)
  std::string trainrt_version = {};  ///< version of trainrt that ran the attempt; "" if unknown (records of older versions)
  std::string start;                 ///< start of rank 0's process, UTC
  /// end of the attempt, UTC; "" while the attempt runs, or if it was killed and no other process has recorded that yet
  std::string end;
  std::string why;     ///< reason for the end: "finished", "stopped by SIGUSR1", "failed: ...", "killed: ..."
  int exit_code = -1;  ///< -1: unknown
  /// The mistake in the train function that ended the attempt. It has no kind if the failure may be temporary, or if it is
  /// unknown (records of older versions).
  Mistake mistake = {};
  /// Name of the node that caused the attempt's end: the node died or was too slow, or its ranks were killed, crashed or
  /// hung. "" if no node is to blame, or if the node is unknown (records of older versions).
  std::string blamed_node = {};
  /// True if every restart would fail in the same way as this attempt: it failed before the first step, or with the same
  /// error as the attempt before it. Supervising processes then do not restart the run.
  bool is_permanent = false;
  /// the start of the next attempt, if it was announced
  std::optional<NextStart> next_start = {};
  std::int64_t first_step = 0;  ///< step at which the attempt began
  std::int64_t last_step = 0;   ///< last completed training step
  /// step of the newest committed checkpoint, or else of the restored checkpoint; -1: no checkpoint
  std::int64_t saved_step = -1;
  /// number of the checkpoint with saved_step; -1: no checkpoint, or unknown (records of older versions)
  std::int64_t saved_checkpoint = -1;
  /// number of the run's reports when the attempt began; recorded beside first_step, since a train function may report
  /// without making steps
  std::int64_t first_iteration = 0;
  std::int64_t saved_iteration = -1;  ///< number of reports in the checkpoint with saved_step; -1: no checkpoint
  std::int64_t iteration = 0;         ///< number of reports made so far
  bool from_copy = false;             ///< the attempt began from a copy of the State in memory, at first_step
  Timing timing;
  /// time of the last heartbeat, UTC, at which the progress and times were written; "" if no heartbeat was written
  std::string seen;
  /// True if the program has not called trainrt's restore, step or report in this attempt or an earlier one, so that the
  /// runtime does not know its progress. Such a program is called silent.
  bool silent = false;
  /// For a program that does not use trainrt's API, if its output is read: the last step, iteration or epoch that the
  /// output mentions; -1 if it has mentioned no number yet.
  std::optional<double> position;
  double expected = 0;      ///< number of iterations (or `position`) at which the run will be complete; 0: unknown
  double unreported_s = 0;  ///< seconds of timing.steps_s since the last report
  std::string job_start;    ///< start of the Slurm job, UTC; "" if unknown
  /// time at which the Slurm job reaches its time limit, UTC; "" if it has no limit, or if the limit is unknown
  std::string job_end;
  /// True if the user started the attempt although checkpoints were missing. Checkpoints that earlier attempts recorded
  /// then no longer count as saved.
  bool accepted_missing = false;
  BitFacts bits = {};  ///< facts on which the bits of results may depend; empty in records of older versions
  /// number of the newest earlier attempt that recorded the ranks' memory use (in RankStatus); 0: none, or unknown
  int memory_attempt = 0;

  /// Returns whether the attempt's progress is known, from trainrt's API or from the program's output.
  bool shows_progress() const { return !silent || (position && *position >= 0); }
};

/// Returns the six-digit number that identifies an attempt in file names: "000003".
std::string attempt_name(int number);

/// Returns the state of an attempt: running (its record has no end), finished, stopped, failed or killed.
RunState state_of(const AttemptRecord& attempt);

/// Describes the end of an attempt that has not recorded its end: "killed: it wrote no end (job 17, ...)". `gone` is the
/// process that owned this attempt; `me` is the process that owns the next attempt.
std::string why_without_end(const Owner& gone, const Owner& me);

/// Conversion of an attempt's record to JSON text and back. attempt_record_from() throws std::exception for invalid JSON,
/// times or numbers.
std::string to_text(const AttemptRecord& record);
AttemptRecord attempt_record_from(const std::string& text);

/// A heartbeat file contains the progress and times of a running attempt as JSON. heartbeat_text() returns this content;
/// merge_heartbeat_text() copies the values in `text` into `record`. If `text` is invalid, merge_heartbeat_text() throws
/// std::exception and leaves `record` unchanged.
std::string heartbeat_text(const AttemptRecord& record);
void merge_heartbeat_text(AttemptRecord& record, const std::string& text);

}  // namespace trainrt::rundir
