#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace trainrt::cli {

/// One of the limits of getrlimit(2): what holds now, and how far a process may raise it.
struct Limit {
  std::uint64_t now = 0;  ///< unlimited: without one
  std::uint64_t most = 0;
};
constexpr std::uint64_t unlimited = ~std::uint64_t{0};

/// Those that programs which train come upon; a program inherits its rank's.
struct ProcessLimits {
  Limit open_files;     ///< ulimit -n
  Limit processes;      ///< ulimit -u: of this user on this node, threads count
  Limit address_space;  ///< ulimit -v, bytes
  Limit data;           ///< ulimit -d, bytes
  Limit cpu_time;       ///< ulimit -t, seconds
  Limit file_size;      ///< ulimit -f, bytes
  Limit core_file;      ///< ulimit -c, bytes
};

/// Of this process. Throws Error.
ProcessLimits own_limits();

/// "1024 open files (ulimit -n): ..." for each that is too low. Pure.
std::vector<std::string> limits_too_low(const ProcessLimits& limits);

}  // namespace trainrt::cli
