#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/environment.hpp"

namespace trainrt::launch {

/// The parts of the Slurm job step and its PMIx server that this process can see. A container may hide some parts.
struct StepView {
  /// Container runtime: "Apptainer", "Singularity", "Enroot", "Docker" or "Podman"; "" outside of these.
  std::string container;
  bool has_step = false;       ///< true if the environment variables of a Slurm job step are set
  bool has_pmix = false;       ///< true if PMIX_NAMESPACE, PMIX_RANK and an address of the PMIx server are set
  std::string server_folder;   ///< folder of the PMIx server (PMIX_SERVER_TMPDIR); "" if the variable is not set
  std::string folder_problem;  ///< reason why this process cannot use the server's folder; "" if it can
  std::uint16_t port = 0;      ///< TCP port of the PMIx server on this node; 0 if unknown
  /// False if no socket in this network namespace listens at the PMIx server's port; true if unknown.
  bool server_listens = true;
  std::string security;   ///< security mode of the PMIx server (PMIX_SECURITY_MODE)
  bool has_munge = true;  ///< true if the socket of munged exists, or munge is not used
  /// User id (UID) of this process outside its user namespace; nullopt if it is equal to `user`.
  std::optional<std::uint32_t> outer_user;
  std::uint32_t user = 0;      ///< user id (UID) of this process
  std::string server_version;  ///< PMIx version of the server; "" if unknown
  std::string client_version;  ///< version of the loaded PMIx library
};

/// A problem with the Slurm job step or PMIx server: a part that this process needs, but cannot use, for example in a
/// container.
struct StepGap {
  std::string problem;
  std::string remedy;
  bool is_fatal = false;  ///< true if the ranks cannot connect to each other because of the problem
};

/// Collects a StepView from the environment, /proc and the PMIx server's folder, without connecting to the server. Never
/// throws.
StepView view_of_step(const Environment& environment);

/// Returns the parts of the Slurm job step and PMIx server that are missing in `view`; fatal problems come first. Pure
/// function.
std::vector<StepGap> gaps_in(const StepView& view);

/// Returns the port in the address of a PMIx server: 58999 for "pmix-server.1;tcp4://127.0.0.1:58999"; 0 if the address has
/// no port. Pure function.
std::uint16_t port_of_server(const std::string& address);

}  // namespace trainrt::launch
