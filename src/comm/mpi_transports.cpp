#include "comm/mpi_transports.hpp"

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
#include "core/log.hpp"
#include "launch/launcher.hpp"

namespace trainrt::comm {

namespace {

// UCX 1.13 took 17 MiB with 2 ranks on a node and 29 MiB with 4.
constexpr std::uint64_t shm_bytes_per_rank = std::uint64_t{8} << 20;

/// The machine's first namespaces have fixed numbers (PROC_PID_INIT_INO and PROC_IPC_INIT_INO of Linux).
bool is_first_namespace(const char* link, const char* name) {
  std::error_code error;
  const auto found = std::filesystem::read_symlink(link, error);
  return !error && found == name;
}

bool in_own_namespaces() {
  return !is_first_namespace("/proc/self/ns/pid", "pid:[4026531836]") ||
         !is_first_namespace("/proc/self/ns/ipc", "ipc:[4026531839]");
}

std::string obstacle_in(const std::string& folder, std::uint64_t bytes) {
  struct statvfs found {};
  if (access(folder.c_str(), W_OK | X_OK) != 0 || statvfs(folder.c_str(), &found) != 0)
    return fmt::format("{} cannot be written: {}", folder, std::strerror(errno));
  const auto free_bytes = std::uint64_t{found.f_bavail} * found.f_frsize;
  if (found.f_blocks == 0 || free_bytes >= bytes) return {};  // no blocks: a tmpfs without a limit
  return fmt::format("{} has {:.1f} MiB free, and MPI may take {} MiB there", folder,
                     static_cast<double>(free_bytes) / (1 << 20), bytes >> 20);
}

/// A segment of its own, which is gone at once.
std::string obstacle_in_sysv(std::uint64_t bytes) {
  const int segment = shmget(IPC_PRIVATE, bytes, IPC_CREAT | S_IRUSR | S_IWUSR);
  if (segment < 0) return fmt::format("no System V shared memory can be had: {}", std::strerror(errno));
  shmctl(segment, IPC_RMID, nullptr);
  return {};
}

}  // namespace

NodeFacts node_facts(const World& world, const Environment& environment) {
  const auto ranks_here = launch::ranks_on_this_node(world, environment);
  const auto ranks = static_cast<std::uint64_t>(ranks_here.value_or(world.size));
  return {.whole_step = ranks_here == world.size,
          .shares_node = ranks_here.value_or(1) > 1,
          .in_container = in_own_namespaces(),
          .shm_obstacle = obstacle_in(environment.text("UCX_POSIX_DIR").value_or("/dev/shm"), ranks * shm_bytes_per_rank),
          .sysv_obstacle = obstacle_in_sysv(shm_bytes_per_rank)};
}

Variables transport_variables(const NodeFacts& facts, const Environment& environment) {
  if (environment.has("UCX_TLS")) return {};
  const bool posix = facts.shm_obstacle.empty(), sysv = facts.sysv_obstacle.empty();
  if (!posix && !sysv && facts.shares_node)
    throw UsageError(
        fmt::format("{}: {}; {}: MPI has no shared memory for the ranks of this node. Give the container a larger "
                    "--shm-size, or mount a tmpfs at /dev/shm that can be written",
                    host_name(), facts.shm_obstacle, facts.sysv_obstacle));
  if (!facts.whole_step) {
    if (posix && sysv) return {};
    return {{"UCX_TLS", posix ? "^sysv" : sysv ? "^posix" : "^posix,sysv"}};
  }
  const std::string in_node = posix && sysv ? "self,sm" : posix ? "self,posix,cma" : sysv ? "self,sysv,cma" : "self";
  if (!facts.in_container) return {{"UCX_TLS", in_node}};
  Variables variables = {{"UCX_TLS", in_node + ",tcp"}};
  if (!environment.has("UCX_NET_DEVICES")) variables.emplace_back("UCX_NET_DEVICES", "lo");
  return variables;
}

std::optional<std::string> transport_warning(const NodeFacts& facts, const Environment& environment) {
  if (facts.shm_obstacle.empty()) return std::nullopt;
  const auto chosen = environment.text("UCX_TLS");
  const auto then =
      chosen
          ? fmt::format("UCX_TLS={} is yours and stays: if MPI_Init fails now, unset it, or name no posix, sm or all in it",
                        *chosen)
      : facts.sysv_obstacle.empty() ? std::string("MPI goes without it, by System V shared memory")
                                    : facts.sysv_obstacle + "; MPI goes without both, by the network";
  return fmt::format(
      "{}: {}; {}. To mend it, give the container a larger --shm-size, or set UCX_POSIX_DIR to a folder in memory",
      host_name(), facts.shm_obstacle, then);
}

MpiTransports::MpiTransports(const World& world) {
  const auto environment = Environment::of_process();
  const auto facts = node_facts(world, environment);
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
