#include "program/environments/framework_environment.hpp"

namespace trainrt::program::plugins {

namespace {

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
    .help = "MASTER_ADDR, MASTER_PORT and the other variables of torchrun, *_SOCKET_IFNAME: torch.distributed, Lightning",
    .ports_of = PortsOf::first_rank,
    .variables = torch_variables};

}  // namespace trainrt::program::plugins
