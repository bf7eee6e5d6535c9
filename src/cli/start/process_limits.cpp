#include "cli/start/process_limits.hpp"

#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <sys/resource.h>
#include <trainrt/error.hpp>

namespace trainrt::cli {

namespace {

constexpr std::uint64_t enough_files = 4096;    // enough for sockets, libraries, and DataLoader workers that share tensors
constexpr std::uint64_t enough_threads = 4096;  // enough for a few ranks with OpenMP, BLAS, gRPC and DataLoader workers

Limit limit_of(__rlimit_resource which) {
  rlimit found{};
  if (getrlimit(which, &found) != 0) throw Error(fmt::format("cannot read the limits: {}", std::strerror(errno)));
  const auto value = [](rlim_t number) { return number == RLIM_INFINITY ? unlimited : std::uint64_t{number}; };
  return {value(found.rlim_cur), value(found.rlim_max)};
}

std::string hard_limit_text(const Limit& limit, const char* option) {
  if (limit.hard == limit.soft) return "";
  return limit.hard == unlimited ? fmt::format(", ulimit {} unlimited is allowed", option)
                                 : fmt::format(", ulimit {} {} is allowed", option, limit.hard);
}

}  // namespace

ProcessLimits own_limits() {
  return {.open_files = limit_of(RLIMIT_NOFILE),
          .processes = limit_of(RLIMIT_NPROC),
          .address_space = limit_of(RLIMIT_AS),
          .data = limit_of(RLIMIT_DATA),
          .cpu_time = limit_of(RLIMIT_CPU),
          .file_size = limit_of(RLIMIT_FSIZE)};
}

std::vector<std::string> limits_too_low(const ProcessLimits& limits) {
  std::vector<std::string> found;
  const auto add = [&](const Limit& limit, std::uint64_t enough, std::uint64_t unit, const char* resource,
                       const char* option) {
    if (limit.soft >= enough) return;
    const Limit shown{limit.soft / unit, limit.hard == unlimited ? unlimited : limit.hard / unit};
    found.push_back(fmt::format("{} {} (ulimit {}{})", shown.soft, resource, option, hard_limit_text(shown, option)));
  };
  add(limits.open_files, enough_files, 1, "open files", "-n");
  add(limits.processes, enough_threads, 1, "processes and threads", "-u");
  add(limits.address_space, unlimited, 1024, "KiB of address space, although CUDA and torch reserve more than they use",
      "-v");
  add(limits.data, unlimited, 1024, "KiB of data", "-d");
  add(limits.cpu_time, unlimited, 1, "s of CPU time, after which the program is killed", "-t");
  add(limits.file_size, unlimited, 1024, "KiB per file, including checkpoints", "-f");
  return found;
}

}  // namespace trainrt::cli
