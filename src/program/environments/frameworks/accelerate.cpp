#include "program/environments/framework_environment.hpp"

namespace trainrt::program::plugins {

namespace {

std::vector<Variable> accelerate_variables(const Rendezvous& rendezvous, std::span<const int>) {
  if (rendezvous.has_gpu) return {};
  return {{"ACCELERATE_USE_CPU", "true", true}};
}

}  // namespace

extern const FrameworkEnvironment accelerate;
const FrameworkEnvironment accelerate{
    .name = "accelerate",
    .help = "ACCELERATE_USE_CPU=true on ranks without a GPU; without it, each rank would train a separate model",
    .ports_of = PortsOf::nobody,
    .variables = accelerate_variables};

}  // namespace trainrt::program::plugins
