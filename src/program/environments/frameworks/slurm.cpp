#include "program/environments/framework_environment.hpp"

namespace trainrt::program::plugins {

namespace {

/// Returns the addresses of all nodes, "10.0.0.1,10.0.0.2", as srun would list the nodes of a step.
std::string node_list(const Rendezvous& rendezvous) {
  std::string list;
  int listed = 0;
  for (std::size_t rank = 0; rank < rendezvous.nodes.size(); ++rank) {
    if (rendezvous.nodes[rank] < listed) continue;
    list += (listed++ > 0 ? "," : "") + rendezvous.addresses.at(rank);
  }
  return list;
}

/// Returns Slurm's variables that describe a task. They replace the inherited values, which another launcher or the
/// batch script may have left.
std::vector<Variable> slurm_variables(const Rendezvous& rendezvous, std::span<const int>) {
  if (!rendezvous.is_in_slurm) return {};
  return {{"SLURM_PROCID", std::to_string(rendezvous.rank)},      {"SLURM_LOCALID", std::to_string(rendezvous.local_rank)},
          {"SLURM_NODEID", std::to_string(rendezvous.node_rank)}, {"SLURM_NTASKS", std::to_string(rendezvous.size)},
          {"SLURM_NPROCS", std::to_string(rendezvous.size)},      {"SLURM_STEP_NODELIST", node_list(rendezvous), true}};
}

}  // namespace

extern const FrameworkEnvironment slurm;
const FrameworkEnvironment slurm{
    .name = "slurm",
    .help =
        "SLURM_PROCID, SLURM_LOCALID, SLURM_NODEID, SLURM_NTASKS in a Slurm job, for any launcher: "
        "jax.distributed.initialize() without arguments",
    .ports_of = PortsOf::nobody,
    .variables = slurm_variables};

}  // namespace trainrt::program::plugins
