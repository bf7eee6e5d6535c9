#include "program/environments/framework_environment.hpp"

namespace trainrt::program::plugins {

namespace {

/// "10.0.0.1,10.0.0.2": what srun says of a step, which `trainrt -n` is not.
std::string node_list(const Meeting& meeting) {
  std::string list;
  int listed = 0;
  for (std::size_t rank = 0; rank < meeting.nodes.size(); ++rank) {
    if (meeting.nodes[rank] < listed) continue;
    list += (listed++ > 0 ? "," : "") + meeting.addresses.at(rank);
  }
  return list;
}

/// srun sets them so for its tasks; under another launcher, and in a batch script, they are of something else.
std::vector<Variable> slurm_variables(const Meeting& meeting, std::span<const int>) {
  if (!meeting.is_in_slurm) return {};
  return {{"SLURM_PROCID", std::to_string(meeting.rank)},      {"SLURM_LOCALID", std::to_string(meeting.local_rank)},
          {"SLURM_NODEID", std::to_string(meeting.node_rank)}, {"SLURM_NTASKS", std::to_string(meeting.size)},
          {"SLURM_NPROCS", std::to_string(meeting.size)},      {"SLURM_STEP_NODELIST", node_list(meeting), true}};
}

}  // namespace

extern const FrameworkEnvironment slurm;
const FrameworkEnvironment slurm{
    .name = "slurm",
    .help =
        "SLURM_PROCID, SLURM_LOCALID, SLURM_NODEID, SLURM_NTASKS in a job of Slurm's, whatever started the ranks: bare "
        "jax.distributed.initialize()",
    .ports_of = PortsOf::nobody,
    .variables = slurm_variables};

}  // namespace trainrt::program::plugins
