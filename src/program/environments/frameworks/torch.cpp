#include "program/environments/framework_environment.hpp"

namespace trainrt::program::plugins {

namespace {

std::vector<Variable> torch_variables(const Meeting& meeting, std::span<const int> ports) {
  const auto number = [](int value) { return std::to_string(value); };
  std::vector<Variable> variables = {{"MASTER_ADDR", meeting.addresses.at(0)},
                                     {"MASTER_PORT", number(ports[0])},
                                     {"GROUP_RANK", number(meeting.node_rank)},
                                     {"GROUP_WORLD_SIZE", number(meeting.node_count)},
                                     {"ROLE_RANK", number(meeting.rank)},
                                     {"ROLE_WORLD_SIZE", number(meeting.size)},
                                     {"ROLE_NAME", "default"},
                                     {"TORCHELASTIC_RESTART_COUNT", number(meeting.restarts)},
                                     {"TORCHELASTIC_MAX_RESTARTS", number(meeting.max_restarts)},
                                     {"TORCHELASTIC_RUN_ID", meeting.run_name}};  // keeps Lightning from taking over Slurm
  if (meeting.interface.empty()) return variables;
  variables.push_back({"GLOO_SOCKET_IFNAME", meeting.interface, true});
  variables.push_back({"TP_SOCKET_IFNAME", meeting.interface, true});
  variables.push_back({"NCCL_SOCKET_IFNAME", "=" + meeting.interface, true});  // without '=' also eth01 for eth0
  return variables;
}

}  // namespace

extern const FrameworkEnvironment torch;
const FrameworkEnvironment torch{
    .name = "torch",
    .help = "MASTER_ADDR, MASTER_PORT and the rest of what torchrun sets, *_SOCKET_IFNAME: torch.distributed, Lightning",
    .ports_of = PortsOf::first_rank,
    .variables = torch_variables};

}  // namespace trainrt::program::plugins
