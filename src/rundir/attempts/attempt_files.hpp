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

// Files of a run's attempts: the record attempts/000003.json, the heartbeat attempts/000003.pulse, and reports in logs/.

/// Reads the `newest` newest attempts of a run; returns them oldest first. Prints a warning for records that cannot be
/// read, and leaves them out.
std::vector<AttemptRecord> read_attempts(const std::string& run_dir,
                                         std::size_t newest = std::numeric_limits<std::size_t>::max());

/// Returns whether the attempt is still running: it has no end, and its owner is alive (is_alive()).
bool attempt_is_alive(const std::string& run_dir, const AttemptRecord& attempt);

/// Returns whether the attempt was killed: its processes no longer run, and its record, which is read again, has no end.
bool was_killed(const std::string& run_dir, const AttemptRecord& attempt);
/// Returns whether the newest of a run's attempts was killed; false if `attempts` is empty.
bool was_killed(const std::string& run_dir, const std::vector<AttemptRecord>& attempts);

/// Writes a failure into the record of an attempt, unless it has an end. Any rank may call it before it ends the Slurm
/// step. The arguments are stored in the fields of AttemptRecord of the same names.
void mark_failed(const std::string& run_dir, int number, const std::string& why, int exit_code, std::int64_t last_step,
                 const std::string& blamed_node = "");

/// Writes the end of an attempt that was killed, on behalf of it, with the numbers of its last heartbeat. Does nothing if
/// the record has an end or does not exist.
void close_attempt(const std::string& run_dir, int number, const std::string& why, int exit_code,
                   const std::string& blamed_node = "");

/// Appends a cause to the reason of an attempt that has ended: "stopped by SIGTERM" becomes "stopped by SIGTERM
/// (preemption)".
void append_cause(const std::string& run_dir, int number, const std::string& cause);

/// Sets the blamed node of an attempt that has ended, unless the record names one already; "" removes the name.
void set_blamed_node(const std::string& run_dir, int number, const std::string& node);

/// Returns the path of the report that a rank writes when it crashes.
std::string crash_report_path(const std::string& run_dir, int attempt, int rank);
/// Returns the folder in which all ranks write reports of a hang, relative to the run directory:
/// "logs/hang-attempt-000003".
std::string hang_folder(int attempt);
/// Returns the file of the step times of all ranks, one JSON object per line, relative to the run directory:
/// "logs/steps-attempt-000003.jsonl".
std::string step_times_name(int attempt);

/// Returns the first lines of an attempt's crash reports: "rank 2 on n2 died of SIGSEGV at step 812 (training)"; "" if no
/// rank crashed.
std::string crash_summary(const std::string& run_dir, int attempt);

// --- for src/rundir ---

std::string record_path(const std::string& run_dir, int number);
std::string heartbeat_path(const std::string& run_dir, int number);

/// Returns the numbers of all attempts that have a file with this extension, ascending. Files need not be readable. Returns
/// an empty list if the folder attempts/ is missing.
std::vector<int> numbers_of_attempts(const std::string& run_dir, std::string_view extension = ".json");

/// Reads the record of an attempt. If it cannot be read, or is another attempt's, prints a warning (once per process) and
/// returns nothing.
std::optional<AttemptRecord> read_record(const std::string& run_dir, int number);

/// Copies the numbers of the heartbeat file into a record that has no end, if the file is readable.
void merge_heartbeat(AttemptRecord& record, const std::string& run_dir);

/// Replaces the record of an attempt that has ended, and removes its heartbeat file. `record` must contain the numbers of
/// that file.
void write_end(const io::FencedDirectory& files, const AttemptRecord& record);

/// Returns the seconds since the last heartbeat of an attempt: since it touched its record or wrote its heartbeat file.
double heartbeat_age_s(const std::string& run_dir, int number);

}  // namespace trainrt::rundir
