#pragma once
#include <string>
#include <vector>

namespace trainrt {

std::string host_name();

/// Returns this node's name in Slurm (environment variable SLURMD_NODENAME); host_name() outside Slurm.
std::string node_name();

/// Returns the IPv4 address of the first network interface that is up and is not the loopback; "127.0.0.1" if there is no
/// such interface.
std::string host_address();

/// Returns an identifier of this host's boot and of this process's pid namespace. Process ids of two processes can be
/// compared only if both have the same identifier.
std::string pid_scope();

/// Returns the command line of this process (argv), one string per argument.
std::vector<std::string> command_of_process();

/// Returns the current UTC time as text: "2026-11-21T01:02:03Z".
std::string utc_now();

/// Returns the seconds from time `from` to time `to`, both in the format of utc_now(). The result is negative if `to` is
/// earlier. Throws Error if a text has another format.
double seconds_between(const std::string& from, const std::string& to);

/// Returns the UTC time `seconds` before now, in the format of utc_now().
std::string utc_before(double seconds);

/// Returns the seconds of a monotonic clock (std::chrono::steady_clock), which starts at an arbitrary fixed time and never
/// steps back.
double monotonic_seconds();

}  // namespace trainrt
