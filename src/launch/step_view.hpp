#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/environment.hpp"

namespace trainrt::launch {

/// What this process sees of Slurm's PMIx server. In a container parts of it may be missing.
struct StepView {
  std::string container;       ///< "Apptainer", "Singularity", "Enroot", "Docker", "Podman"; "" if none is recognized
  bool has_step = false;       ///< the variables of a Slurm step are set
  bool has_pmix = false;       ///< PMIX_NAMESPACE, PMIX_RANK and an address of the server are set
  std::string server_folder;   ///< PMIX_SERVER_TMPDIR; "" if it is not set
  std::string folder_problem;  ///< why this process cannot use that folder; "" if it can
  std::uint16_t port = 0;      ///< of the server on this node; 0 if it is not known
  bool hears_server = true;    ///< something listens at that port in this network namespace, or that cannot be found out
  std::string security;        ///< PMIX_SECURITY_MODE
  bool has_munge = true;       ///< the socket of munged exists, or is not needed
  std::optional<std::uint32_t> outer_user;  ///< user number outside, if it is another one here
  std::uint32_t user = 0;                   ///< user number here
  std::string server_version;               ///< of the server's PMIx; "" if it is not known
  std::string client_version;               ///< of the PMIx library that is loaded here
};

/// Something that a rank in a container lacks.
struct StepGap {
  std::string problem;
  std::string remedy;
  bool is_fatal = false;  ///< the ranks cannot form one world
};

/// Reads the environment, /proc, and the folder of the server; connects to nothing. Never throws.
StepView view_of_step(const Environment& environment);

/// Returns what is missing, the worst first. Pure function.
std::vector<StepGap> gaps_in(const StepView& view);

/// Returns the port in "pmix-server.1;tcp4://127.0.0.1:58999", or 0. Pure function.
std::uint16_t port_of_server(const std::string& address);

}  // namespace trainrt::launch
