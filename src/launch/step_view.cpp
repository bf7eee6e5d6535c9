#include "launch/step_view.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "launch/library_versions.hpp"

namespace trainrt::launch {

namespace {

bool exists(const char* path) { return access(path, F_OK) == 0; }

std::string container_name(const Environment& environment) {
  if (environment.has("APPTAINER_CONTAINER")) return "Apptainer";
  if (environment.has("SINGULARITY_CONTAINER") || exists("/.singularity.d")) return "Singularity";
  if (environment.has("ENROOT_ROOTFS") || exists("/etc/rc.local.enroot") || exists("/.enroot")) return "Enroot";
  if (exists("/run/.containerenv")) return "Podman";
  return exists("/.dockerenv") ? "Docker" : "";
}

/// Returns the address of the PMIx server from the environment variable of the newest protocol version; "" if no address is
/// set.
std::string server_address(const Environment& environment) {
  for (const auto* name : {"PMIX_SERVER_URI5", "PMIX_SERVER_URI41", "PMIX_SERVER_URI4", "PMIX_SERVER_URI3",
                           "PMIX_SERVER_URI21", "PMIX_SERVER_URI2"})
    if (const auto address = environment.text(name)) return *address;
  return {};
}

/// Returns whether a socket of this network namespace listens at TCP port `port`; nullopt if `table`, a file such as
/// /proc/net/tcp, cannot be read.
std::optional<bool> listens(const char* table, std::uint16_t port) {
  std::ifstream file(table);
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  const auto ending = fmt::format(":{:04X}", port);
  constexpr std::string_view listening = "0A";
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string number, local, remote, state;
    words >> number >> local >> remote >> state;
    if (local.ends_with(ending) && state == listening) return true;
  }
  return false;
}

bool server_listens_at(std::uint16_t port) {
  if (port == 0) return true;
  const auto v4 = listens("/proc/self/net/tcp", port), v6 = listens("/proc/self/net/tcp6", port);
  return !v4 || *v4 || v6.value_or(false);
}

/// Returns the reason why this process cannot write to the PMIx server's folder; "" if it can. Without the folder the PMIx
/// library prints errors, and works without shared memory.
std::string problem_of_folder(const std::string& folder) {
  if (folder.empty() || access(folder.c_str(), R_OK | W_OK | X_OK) == 0) return {};
  if (errno == ENOENT) return "does not exist here";
  if (errno == EROFS) return "is read-only here";
  return fmt::format("cannot be used here: {}", std::strerror(errno));
}

bool has_munge_socket() { return exists("/run/munge/munge.socket.2") || exists("/var/run/munge/munge.socket.2"); }

/// Returns the user id (UID) of this process outside its user namespace; nullopt if it is the same inside and outside.
std::optional<std::uint32_t> user_outside() {
  std::ifstream map("/proc/self/uid_map");
  const std::uint64_t user = geteuid();
  for (std::uint64_t inside = 0, outside = 0, count = 0; map >> inside >> outside >> count;)
    if (user >= inside && user - inside < count) {
      const auto number = outside + (user - inside);
      return number == user ? std::nullopt : std::optional(static_cast<std::uint32_t>(number));
    }
  return std::nullopt;
}

std::string major_of(const std::string& version) {
  const auto from = version.find_first_of("0123456789");
  return from == std::string::npos ? "" : version.substr(from, version.find('.', from) - from);
}

StepGap missing_variables(const StepView& view) {
  if (!view.has_step)
    return {.problem = "the variables of a Slurm step are not set in this container (" + view.container +
                       "): this process cannot find other ranks",
            .remedy =
                "under srun, let the container pass on SLURM_* and PMIX_* (Apptainer: without --cleanenv and --containall)",
            .is_fatal = false};
  return {.problem =
              "no address of a PMIx server is set (PMIX_NAMESPACE, PMIX_RANK, PMIX_SERVER_URI*): each rank would run alone",
          .remedy =
              "start the step with srun --mpi=pmix, and let the container pass on SLURM_* and PMIX_* (Apptainer: "
              "without --cleanenv and --containall; Enroot: its hook 50-slurm-pmi.sh)",
          .is_fatal = true};
}

}  // namespace

std::uint16_t port_of_server(const std::string& address) {
  const auto colon = address.rfind(':');
  std::uint16_t port = 0;
  if (colon != std::string::npos) std::from_chars(address.data() + colon + 1, address.data() + address.size(), port);
  return port;
}

StepView view_of_step(const Environment& environment) {
  StepView view;
  const auto address = server_address(environment);
  view.container = container_name(environment);
  view.has_step = environment.has("SLURM_STEP_ID") && environment.has("SLURM_PROCID");
  view.has_pmix = !address.empty() && environment.has("PMIX_NAMESPACE") && environment.has("PMIX_RANK");
  view.server_folder = environment.text("PMIX_SERVER_TMPDIR").value_or("");
  view.folder_problem = problem_of_folder(view.server_folder);
  view.port = port_of_server(address);
  view.server_listens = server_listens_at(view.port);
  view.security = environment.text("PMIX_SECURITY_MODE").value_or("");
  view.has_munge = view.security.find("munge") == std::string::npos || has_munge_socket();
  view.user = geteuid();
  view.outer_user = user_outside();
  view.server_version = environment.text("PMIX_VERSION").value_or("");
  view.client_version = pmix_version().version.loaded;
  return view;
}

std::vector<StepGap> gaps_in(const StepView& view) {
  if (!view.has_pmix) {
    // In Docker and Podman a missing PMIx server is no problem, because they are also used without Slurm.
    const bool expects_step =
        view.has_step || view.container == "Apptainer" || view.container == "Singularity" || view.container == "Enroot";
    return expects_step ? std::vector{missing_variables(view)} : std::vector<StepGap>{};
  }
  std::vector<StepGap> gaps;
  if (!view.server_listens)
    gaps.push_back(
        {.problem = fmt::format("no socket listens at port {} of the PMIx server: the container has a network of its own",
                                view.port),
         .remedy = "give the container the node's network (Apptainer: without --net; Docker, Podman: --network=host)",
         .is_fatal = true});
  if (view.outer_user)
    gaps.push_back({.problem = fmt::format("this process is user {} in the container and user {} outside: "
                                           "the PMIx server refuses it",
                                           view.user, *view.outer_user),
                    .remedy = "keep the user in the container (Apptainer: without --fakeroot; pyxis: "
                              "--no-container-remap-root; Podman: --userns=keep-id)",
                    .is_fatal = true});
  if (!view.has_munge)
    gaps.push_back({.problem = fmt::format("the PMIx server authenticates by {}, "
                                           "and the socket of munged does not exist in the container",
                                           view.security),
                    .remedy = "bind /run/munge, and install libmunge in the image",
                    .is_fatal = view.security == "munge"});
  if (!view.folder_problem.empty())
    gaps.push_back({.problem = fmt::format("folder {} of the PMIx server (PMIX_SERVER_TMPDIR) {}", view.server_folder,
                                           view.folder_problem),
                    .remedy = fmt::format("bind the folder, writable, at the same path: --bind {0} (Apptainer), "
                                          "--container-mounts={0}:{0} (pyxis; Enroot's hook 50-slurm-pmi.sh does it)",
                                          view.server_folder)});
  if (view.client_version.empty())
    gaps.push_back(
        {.problem = "no PMIx library can be loaded",
         .remedy = "install libpmix.so.2 in the image (Debian: package libpmix2), or set TRAINRT_PMIX_LIBRARY to its path",
         .is_fatal = true});
  else if (!view.server_version.empty() && major_of(view.server_version) != major_of(view.client_version))
    gaps.push_back(
        {.problem = fmt::format("the PMIx server has version {}, and the loaded library is {}", view.server_version,
                                view.client_version),
         .remedy = "if the ranks do not find each other, install a PMIx library of the server's version in the image"});
  std::ranges::stable_sort(gaps, std::greater{}, &StepGap::is_fatal);
  return gaps;
}

}  // namespace trainrt::launch
