#include "comm/mpi/mpi_transports.hpp"

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <trainrt/error.hpp>

#include "core/host.hpp"
#include "core/output/log.hpp"
#include "launch/launcher.hpp"

namespace trainrt::comm {

namespace {

// Estimate of the shared memory that UCX needs per rank. UCX 1.13 used 17 MiB with 2 ranks on a node and 29 MiB with 4.
constexpr std::uint64_t shm_bytes_per_rank = std::uint64_t{8} << 20;

/// Returns whether a symbolic link in /proc/self/ns refers to `name`, the initial namespace of the machine. Initial
/// namespaces of Linux have fixed numbers (PROC_PID_INIT_INO and PROC_IPC_INIT_INO).
bool is_first_namespace(const char* link, const char* name) {
  std::error_code error;
  const auto found = std::filesystem::read_symlink(link, error);
  return !error && found == name;
}

bool in_own_namespaces() {
  return !is_first_namespace("/proc/self/ns/pid", "pid:[4026531836]") ||
         !is_first_namespace("/proc/self/ns/ipc", "ipc:[4026531839]");
}

std::string problem_in(const std::string& folder, std::uint64_t bytes) {
  struct statvfs found {};
  if (access(folder.c_str(), W_OK | X_OK) != 0 || statvfs(folder.c_str(), &found) != 0)
    return fmt::format("{} cannot be written: {}", folder, std::strerror(errno));
  const auto free_bytes = std::uint64_t{found.f_bavail} * found.f_frsize;
  if (found.f_blocks == 0 || free_bytes >= bytes) return {};  // 0 blocks: a tmpfs without a size limit
  return fmt::format("{} has {:.1f} MiB free, but MPI may need {} MiB there", folder,
                     static_cast<double>(free_bytes) / (1 << 20), bytes >> 20);
}

/// Tests whether System V shared memory is available: creates a segment of `bytes` bytes and removes it. Returns the reason
/// of a failure, or "".
std::string problem_in_sysv(std::uint64_t bytes) {
  const int segment = shmget(IPC_PRIVATE, bytes, IPC_CREAT | S_IRUSR | S_IWUSR);
  if (segment < 0) return fmt::format("System V shared memory is not available: {}", std::strerror(errno));
  shmctl(segment, IPC_RMID, nullptr);
  return {};
}

}  // namespace

UcxFacts ucx_facts(const World& world, const Environment& environment) {
  const auto ranks_here = launch::ranks_on_this_node(world, environment);
  const auto ranks = static_cast<std::uint64_t>(ranks_here.value_or(world.size));
  return {.all_on_this_node = ranks_here == world.size,
          .shares_node = ranks_here.value_or(1) > 1,
          .in_container = in_own_namespaces(),
          .shm_problem = problem_in(environment.text("UCX_POSIX_DIR").value_or("/dev/shm"), ranks * shm_bytes_per_rank),
          .sysv_problem = problem_in_sysv(shm_bytes_per_rank)};
}

Variables transport_variables(const UcxFacts& facts, const Environment& environment) {
  if (environment.has("UCX_TLS")) return {};
  const bool posix = facts.shm_problem.empty(), sysv = facts.sysv_problem.empty();
  if (!posix && !sysv && facts.shares_node)
    throw UsageError(
        fmt::format("MPI has no shared memory for the ranks of {}: {}; "
                    "{}. Give the container a larger --shm-size, or mount a writable tmpfs at /dev/shm",
                    host_name(), facts.shm_problem, facts.sysv_problem));
  if (!facts.all_on_this_node) {
    if (posix && sysv) return {};
    return {{"UCX_TLS", posix ? "^sysv" : sysv ? "^posix" : "^posix,sysv"}};
  }
  const std::string in_node = posix && sysv ? "self,sm" : posix ? "self,posix,cma" : sysv ? "self,sysv,cma" : "self";
  if (!facts.in_container) return {{"UCX_TLS", in_node}};
  Variables variables = {{"UCX_TLS", in_node + ",tcp"}};
  if (!environment.has("UCX_NET_DEVICES")) variables.emplace_back("UCX_NET_DEVICES", "lo");
  return variables;
}

std::optional<std::string> transport_warning(const UcxFacts& facts, const Environment& environment) {
  if (facts.shm_problem.empty()) return std::nullopt;
  std::string consequence = "MPI uses System V shared memory instead";
  if (const auto chosen = environment.text("UCX_TLS"))
    consequence = fmt::format(
        "UCX_TLS={} is set in the environment and is kept; "
        "if MPI_Init fails, unset it, or remove posix, sm and all from it",
        *chosen);
  else if (!facts.sysv_problem.empty())
    consequence = facts.sysv_problem + "; MPI uses the network instead";
  return fmt::format(
      "{}: {}; {}. To fix this, give the container a larger --shm-size, or set UCX_POSIX_DIR to a folder in memory",
      host_name(), facts.shm_problem, consequence);
}

MpiTransports::MpiTransports(const World& world) {
  const auto environment = Environment::of_process();
  const auto facts = ucx_facts(world, environment);
  set_ = transport_variables(facts, environment);
  if (const auto warning = transport_warning(facts, environment);
      warning && launch::claimed_local_rank(world, environment) == 0)
    log::warning(*warning);
  for (const auto& [name, value] : set_) setenv(name.c_str(), value.c_str(), 1);
}

MpiTransports::~MpiTransports() {
  for (const auto& [name, value] : set_) unsetenv(name.c_str());
}

}  // namespace trainrt::comm
