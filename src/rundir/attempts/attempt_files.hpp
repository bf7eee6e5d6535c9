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

// The records of a run's attempts in its directory: attempts/000003.json, and 000003.pulse beside it.

/// The newest so many attempts of a run, oldest first. Records that cannot be read are warned of and left out.
std::vector<AttemptRecord> read_attempts(const std::string& run_dir,
                                         std::size_t newest = std::numeric_limits<std::size_t>::max());

/// True if an attempt without an end can be shown to run still (is_alive()).
bool attempt_is_alive(const std::string& run_dir, const AttemptRecord& attempt);

/// Returns whether an attempt without an end runs no more: it was killed. One that has ended since it was read was not.
bool is_killed(const std::string& run_dir, const AttemptRecord& attempt);
/// The same of the newest of a run's attempts; false if there is none.
bool is_killed(const std::string& run_dir, const std::vector<AttemptRecord>& attempts);

/// Writes the end of an attempt into its record: by any rank, when it takes the step down. `blamed_node`:
/// AttemptRecord::blamed_node, here and below.
void mark_failed(const std::string& run_dir, int number, const std::string& why, int exit_code, std::int64_t last_step,
                 const std::string& blamed_node = "");

/// Writes the end of an attempt that could not do it itself (it was killed), as somebody else saw it, with the numbers of
/// its last sign of life. Does nothing if the record has an end, or does not exist.
void close_attempt(const std::string& run_dir, int number, const std::string& why, int exit_code,
                   const std::string& blamed_node = "");

/// Adds what an attempt could not know of its own end: "stopped by SIGTERM" becomes "stopped by SIGTERM (preemption)".
void note_cause(const std::string& run_dir, int number, const std::string& cause);

/// Adds the node at which an attempt has ended, if it has an end and does not know one; "" takes it away: none is to blame.
void note_blamed_node(const std::string& run_dir, int number, const std::string& node);

/// What a rank of an attempt writes when it crashes, and when it hangs, which it does into a folder of all ranks.
std::string crash_report_path(const std::string& run_dir, int attempt, int rank);
std::string hang_folder(int attempt);  ///< "logs/hang-attempt-000003", in the run directory
/// What the steps of an attempt took on each rank, a JSON object a line: "logs/steps-attempt-000003.jsonl", there too.
std::string step_times_name(int attempt);

/// What the crash reports of an attempt say, in a line: "rank 2 on n2 died of SIGSEGV at step 812 (training)"; "" if
/// none crashed.
std::string crash_of(const std::string& run_dir, int attempt);

// --- for the attempts themselves ---

std::string record_path(const std::string& run_dir, int number);
std::string heartbeat_path(const std::string& run_dir, int number);

/// Numbers of the attempts that have a file of this kind, readable or not, in order. None if the folder is not there.
std::vector<int> numbers_of_attempts(const std::string& run_dir, std::string_view extension = ".json");

/// nullopt, with a warning (once in a process), if the record cannot be read, or is another attempt's: then nobody can
/// be shown to be alive by it.
std::optional<AttemptRecord> read_record(const std::string& run_dir, int number);

/// A record without an end gets the numbers of its last sign of life, if there is one that can be read.
void take_heartbeat(AttemptRecord& record, const std::string& run_dir);

/// Puts a record that has its end now in its place, and removes the heartbeat, whose numbers it has taken up.
void write_end(const io::FencedDirectory& files, const AttemptRecord& record);

/// Seconds since an attempt gave its last sign of life: touched its record, or wrote a heartbeat.
double heartbeat_age_s(const std::string& run_dir, int number);

}  // namespace trainrt::rundir
