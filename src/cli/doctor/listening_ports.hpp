#pragma once
#include <string>
#include <vector>

namespace trainrt::cli {

/// An address of /proc/net/tcp or tcp6, "0100007F:A9B3", as "127.0.0.1:43443" or "[::1]:43443"; "" if it is none. Pure.
std::string address_of(const std::string& hexadecimal);

/// The TCP addresses that this process listens on and its parent does not: mpiexec and slurmstepd leave theirs open in the
/// ranks that they start. Sorted. An Error if the kernel does not tell.
std::vector<std::string> listening_ports();

}  // namespace trainrt::cli
