#pragma once
#include <string>
#include <vector>

namespace trainrt {

std::string host_name();

/// Returns this node's name in Slurm (SLURMD_NODENAME); host_name() outside Slurm.
std::string node_name();

/// Identifies the boot of this host's kernel and the pid namespace of this process. Process numbers are comparable between
/// processes with the same value.
std::string pid_scope();

/// Returns the words of this process's command line.
std::vector<std::string> command_of_process();

/// Returns the current UTC time, "2026-11-21T01:02:03Z".
std::string utc_now();

/// Returns the seconds from one text of utc_now() to another, negative if `to` is earlier. Throws Error if one of them has
/// another form.
double seconds_between(const std::string& from, const std::string& to);

/// Returns the UTC time of `seconds` ago in the form of utc_now().
std::string utc_before(double seconds);

/// Returns the seconds since a fixed moment, from a clock that never steps back.
double monotonic_seconds();

}  // namespace trainrt
