#pragma once
#include <string>
#include <vector>

namespace trainrt {

std::string host_name();

/// Identifies this boot of this host's kernel and this process's pid namespace: two processes with the same text may
/// compare process numbers.
std::string pid_scope();

/// Start time of a process in clock ticks since boot (field 22 of /proc/PID/stat), 0 if there is no such process.
/// With the process number it names a process for good: numbers are reused, start times are not.
unsigned long long process_start_time(int pid);

/// The words of the command line that this process was started with.
std::vector<std::string> command_of_process();

/// UTC, "2026-11-21T01:02:03Z".
std::string utc_now();

/// Seconds from one such text to a later one, negative if it is earlier; throws Error if one is no such text.
double seconds_between(const std::string& from, const std::string& to);

/// Such a text for a moment so many seconds ago.
std::string utc_before(double seconds);

/// How long this process has been running.
double seconds_since_process_start();

/// Seconds since some fixed moment, never stepping back.
double monotonic_seconds();

}  // namespace trainrt
