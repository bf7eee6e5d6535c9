#include "program/environments/framework_environment.hpp"

namespace trainrt::program::plugins {

namespace {

/// Maximum number of ranks for which torch's TCPStore shall work without libuv. torch 2.4 and later use libuv by default,
/// and fail if they were built without it, as by Debian 13. Without libuv, tens of thousands of ranks take long to
/// connect. See https://docs.pytorch.org/tutorials/intermediate/TCPStore_libuv_backend.html.
constexpr int max_ranks_without_libuv = 1024;

std::vector<Variable> torch_variables(const Rendezvous& rendezvous, std::span<const int> ports) {
  const auto number = [](int value) { return std::to_string(value); };
  std::vector<Variable> variables = {
      {"MASTER_ADDR", rendezvous.addresses.at(0)},
      {"MASTER_PORT", number(ports[0])},
      {"GROUP_RANK", number(rendezvous.node_rank)},
      {"GROUP_WORLD_SIZE", number(rendezvous.node_count)},
      {"ROLE_RANK", number(rendezvous.rank)},
      {"ROLE_WORLD_SIZE", number(rendezvous.size)},
      {"ROLE_NAME", "default"},
      {"TORCHELASTIC_RESTART_COUNT", number(rendezvous.restarts)},
      {"TORCHELASTIC_MAX_RESTARTS", number(rendezvous.max_restarts)},
      {"TORCHELASTIC_RUN_ID", rendezvous.run_name}};  // with this variable, Lightning ignores Slurm's variables
  if (rendezvous.size <= max_ranks_without_libuv) variables.push_back({"USE_LIBUV", "0", true});
  if (rendezvous.interface.empty()) return variables;
  variables.push_back({"GLOO_SOCKET_IFNAME", rendezvous.interface, true});
  variables.push_back({"TP_SOCKET_IFNAME", rendezvous.interface, true});
  variables.push_back(
      {"NCCL_SOCKET_IFNAME", "=" + rendezvous.interface, true});  // without '=', eth0 would also match eth01
  return variables;
}

}  // namespace

extern const FrameworkEnvironment torch;
const FrameworkEnvironment torch{
    .name = "torch",
    .help =
        "MASTER_ADDR, MASTER_PORT and the other variables of torchrun, USE_LIBUV, *_SOCKET_IFNAME: torch.distributed, "
        "Lightning",
    .ports_of = PortsOf::first_rank,
    .variables = torch_variables};

}  // namespace trainrt::program::plugins
