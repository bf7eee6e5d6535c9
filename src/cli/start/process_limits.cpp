#include "cli/start/process_limits.hpp"

#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <sys/resource.h>
#include <trainrt/error.hpp>

namespace trainrt::cli {

namespace {

constexpr std::uint64_t enough_files = 4096;    // sockets, libraries, and a DataLoader that passes tensors as descriptors
constexpr std::uint64_t enough_threads = 4096;  // a few ranks with OpenMP, BLAS, gRPC and DataLoader workers

Limit limit_of(__rlimit_resource which) {
  rlimit found{};
  if (getrlimit(which, &found) != 0) throw Error(fmt::format("cannot read the limits: {}", std::strerror(errno)));
  const auto value = [](rlim_t number) { return number == RLIM_INFINITY ? unlimited : std::uint64_t{number}; };
  return {value(found.rlim_cur), value(found.rlim_max)};
}

std::string may_be_raised(const Limit& limit, const char* option) {
  if (limit.most == limit.now) return "";
  return limit.most == unlimited ? fmt::format(", ulimit {} unlimited is allowed", option)
                                 : fmt::format(", ulimit {} {} is allowed", option, limit.most);
}

}  // namespace

ProcessLimits own_limits() {
  return {.open_files = limit_of(RLIMIT_NOFILE),
          .processes = limit_of(RLIMIT_NPROC),
          .address_space = limit_of(RLIMIT_AS),
          .data = limit_of(RLIMIT_DATA),
          .cpu_time = limit_of(RLIMIT_CPU),
          .file_size = limit_of(RLIMIT_FSIZE),
          .core_file = limit_of(RLIMIT_CORE)};
}

std::vector<std::string> limits_too_low(const ProcessLimits& limits) {
  std::vector<std::string> found;
  const auto add = [&](const Limit& limit, std::uint64_t enough, std::uint64_t unit, const char* what, const char* option) {
    if (limit.now >= enough) return;
    const Limit shown{limit.now / unit, limit.most == unlimited ? unlimited : limit.most / unit};
    found.push_back(fmt::format("{} {} (ulimit {}{})", shown.now, what, option, may_be_raised(shown, option)));
  };
  add(limits.open_files, enough_files, 1, "open files", "-n");
  add(limits.processes, enough_threads, 1, "processes and threads", "-u");
  add(limits.address_space, unlimited, 1024, "KiB of address space, of which CUDA and torch reserve more than they use",
      "-v");
  add(limits.data, unlimited, 1024, "KiB of data", "-d");
  add(limits.cpu_time, unlimited, 1, "s of CPU time, and the program is killed", "-t");
  add(limits.file_size, unlimited, 1024, "KiB a file, for checkpoints too", "-f");
  return found;
}

}  // namespace trainrt::cli
