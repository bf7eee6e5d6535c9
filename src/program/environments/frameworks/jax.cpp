#include "program/environments/framework_environment.hpp"

namespace trainrt::program::plugins {

namespace {

std::vector<Variable> jax_variables(const Rendezvous& rendezvous, std::span<const int> ports) {
  return {{"JAX_COORDINATOR_ADDRESS", endpoint(rendezvous.addresses.at(0), ports[0])}};
}

}  // namespace

extern const FrameworkEnvironment jax;
const FrameworkEnvironment jax{.name = "jax",
                               .help = "JAX_COORDINATOR_ADDRESS: jax.distributed.initialize()",
                               .ports_of = PortsOf::first_rank,
                               .variables = jax_variables};

}  // namespace trainrt::program::plugins
