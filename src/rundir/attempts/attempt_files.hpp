#pragma once
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/files/fenced_directory.hpp"
#include "rundir/records/attempt_record.hpp"

namespace trainrt::rundir {

// Functions for the files of a run's attempts: the record attempts/000003.json, the heartbeat file attempts/000003.pulse,
// and reports of crashes and hangs in logs/.

/// Reads the records of the last `newest` attempts of a run, merged with their heartbeat files. Returns them oldest first.
/// Prints a warning for each record that cannot be read, and leaves it out.
std::vector<AttemptRecord> read_attempts(const std::string& run_dir,
                                         std::size_t newest = std::numeric_limits<std::size_t>::max());

/// Returns whether an attempt is still running: its record has no end, and its owner is alive (is_alive()).
bool attempt_is_alive(const std::string& run_dir, const AttemptRecord& attempt);
/// Throws RunIsOwned if `attempt` is still running (attempt_is_alive()).
void refuse_if_alive(const std::string& run_dir, const AttemptRecord& attempt);

/// Returns whether an attempt was killed: its processes no longer run, and its record has no end. The record is read again,
/// because the end may have been written after `attempt` was read.
bool was_killed(const std::string& run_dir, const AttemptRecord& attempt);
/// Returns whether the last attempt in `attempts` was killed. Returns false if there are no attempts.
bool was_killed(const std::string& run_dir, const std::vector<AttemptRecord>& attempts);

/// The failure of an attempt: fields of AttemptRecord. `last_step` and `iteration` were reached at the same time.
struct AttemptFailure {
  std::string why;
  int exit_code = -1;
  std::int64_t last_step = 0;
  std::int64_t iteration = 0;
  std::string blamed_node = {};
  Mistake mistake = {};
};

/// Writes the failure of an attempt into its record, unless the record has an end. A rank that failed may call
/// mark_failed() before it ends the Slurm job step.
void mark_failed(const std::string& run_dir, int number, const AttemptFailure& failure);

/// Completes the record of a killed attempt, which could not write its own end: adds the end, and the progress of the last
/// heartbeat. Does nothing if the record has an end or does not exist.
void close_attempt(const std::string& run_dir, int number, const std::string& why, int exit_code,
                   const std::string& blamed_node = "");

/// Appends `cause` to the recorded reason of an attempt that has ended: "stopped by SIGTERM" becomes "stopped by SIGTERM
/// (preemption)".
void append_cause(const std::string& run_dir, int number, const std::string& cause);

/// Records `node` as the node that caused the end of an attempt, if the attempt has ended and its record names no node. An
/// empty `node` removes the recorded name.
void set_blamed_node(const std::string& run_dir, int number, const std::string& node);

/// Marks the newest attempt of a run as one that a restart would repeat (AttemptRecord::is_permanent), so that it is not
/// restarted.
///
/// Returns false if the attempt has no end, or if its record cannot be written, as on full storage (a warning is then
/// logged). The caller must then prevent the restart by its exit code.
[[nodiscard]] bool forbid_restart(const std::string& run_dir);

/// Stores `next`, the announced start of the next attempt, in the record of the newest attempt; nullopt removes an earlier
/// announcement. Does nothing if the newest attempt has no end. Logs a warning if the record cannot be written.
void announce_start(const std::string& run_dir, const std::optional<NextStart>& next);

/// Returns the path of the crash report, which a rank writes when it dies of a signal such as SIGSEGV.
std::string crash_report_path(const std::string& run_dir, int attempt, int rank);
/// Returns the folder into which all ranks write their reports of a hang, as a path relative to the run directory:
/// "logs/hang-attempt-000003".
std::string hang_folder(int attempt);
/// Returns the path of the file with the step times of all ranks, one JSON object per line, relative to the run directory:
/// "logs/steps-attempt-000003.jsonl".
std::string step_times_name(int attempt);

/// Returns the first lines of all crash reports of an attempt, joined by "; ": "rank 2 on n2 died of SIGSEGV at step 812
/// (training)". Returns "" if no rank crashed.
std::string crash_summary(const std::string& run_dir, int attempt);

// --- functions that only src/rundir uses ---

std::string record_path(const std::string& run_dir, int number);
std::string heartbeat_path(const std::string& run_dir, int number);

/// Returns the numbers of all attempts that have a file with this extension in the folder attempts/, ascending. The files
/// need not be readable. Returns an empty list if the folder is missing.
std::vector<int> numbers_of_attempts(const std::string& run_dir, std::string_view extension = ".json");

/// Reads the record of an attempt. If the file cannot be read, or holds the record of another attempt, prints a warning
/// (once per process) and returns nothing.
std::optional<AttemptRecord> read_record(const std::string& run_dir, int number);

/// Copies the progress and times in an attempt's heartbeat file into its `record`. Does nothing if the record has an end or
/// the file is not readable.
void merge_heartbeat(AttemptRecord& record, const std::string& run_dir);

/// Replaces the record of an attempt that has ended by `record`, and removes the attempt's heartbeat file. The values of
/// that file must have been copied into `record` before.
void write_end(const io::FencedDirectory& files, const AttemptRecord& record);

/// Returns the seconds since the last heartbeat of an attempt: since the modification time (mtime) of its record or its
/// heartbeat file, whichever is later.
double heartbeat_age_s(const std::string& run_dir, int number);

}  // namespace trainrt::rundir
