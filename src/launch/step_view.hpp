#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/environment.hpp"

namespace trainrt::launch {

/// The parts of a Slurm step and its PMIx server that are visible to this process. In a container some may be missing.
struct StepView {
  std::string container;       ///< "Apptainer", "Singularity", "Enroot", "Docker" or "Podman"; "" outside of these
  bool has_step = false;       ///< the variables of a Slurm step are set
  bool has_pmix = false;       ///< PMIX_NAMESPACE, PMIX_RANK and an address of the server are set
  std::string server_folder;   ///< PMIX_SERVER_TMPDIR; "" if it is not set
  std::string folder_problem;  ///< why this process cannot use that folder; "" if it can
  std::uint16_t port = 0;      ///< port of the server on this node; 0 if unknown
  bool server_listens = true;  ///< false if no socket in this network namespace listens at `port`; true if unknown
  std::string security;        ///< PMIX_SECURITY_MODE
  bool has_munge = true;       ///< the socket of munged exists, or munge is not used
  std::optional<std::uint32_t> outer_user;  ///< user number outside the user namespace, if it differs from `user`
  std::uint32_t user = 0;                   ///< user number of this process
  std::string server_version;               ///< PMIx version of the server; "" if unknown
  std::string client_version;               ///< version of the loaded PMIx library
};

/// A part of its Slurm step or PMIx server that this process needs but cannot use.
struct StepGap {
  std::string problem;
  std::string remedy;
  bool is_fatal = false;  ///< the ranks cannot form one world
};

/// Collects a StepView from the environment, /proc and the server's folder, without connecting to the server. Never throws.
StepView view_of_step(const Environment& environment);

/// Returns the missing parts; fatal ones come first. Pure function.
std::vector<StepGap> gaps_in(const StepView& view);

/// Returns the port in "pmix-server.1;tcp4://127.0.0.1:58999", or 0. Pure function.
std::uint16_t port_of_server(const std::string& address);

}  // namespace trainrt::launch
