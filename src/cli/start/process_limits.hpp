#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace trainrt::cli {

/// A resource limit of getrlimit(2).
struct Limit {
  std::uint64_t soft = 0;  ///< the limit in effect
  std::uint64_t hard = 0;  ///< the value to which a process may raise the soft limit
};
/// Value of `soft` or `hard` for a resource that is not limited.
constexpr std::uint64_t unlimited = ~std::uint64_t{0};

/// Resource limits that may be too low for training programs. A program inherits the limits of its rank.
struct ProcessLimits {
  Limit open_files;     ///< ulimit -n
  Limit processes;      ///< ulimit -u: processes and threads of this user on this node
  Limit address_space;  ///< ulimit -v, bytes
  Limit data;           ///< ulimit -d, bytes
  Limit cpu_time;       ///< ulimit -t, seconds
  Limit file_size;      ///< ulimit -f, bytes
};

/// Returns the limits of this process. Throws Error.
ProcessLimits own_limits();

/// Returns a description of each limit that is too low for training: "1024 open files (ulimit -n, ulimit -n 4096 is
/// allowed)". Pure function.
std::vector<std::string> limits_too_low(const ProcessLimits& limits);

}  // namespace trainrt::cli
