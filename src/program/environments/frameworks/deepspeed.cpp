#include "program/environments/framework_environment.hpp"

namespace trainrt::program::plugins {

namespace {

std::vector<Variable> deepspeed_variables(const Rendezvous& rendezvous, std::span<const int>) {
  if (rendezvous.has_gpu) return {};
  return {{"DS_ACCELERATOR", "cpu", true}};
}

}  // namespace

extern const FrameworkEnvironment deepspeed;
const FrameworkEnvironment deepspeed{
    .name = "deepspeed",
    .help = "DS_ACCELERATOR=cpu on ranks without a GPU, so that DeepSpeed does not search for one",
    .ports_of = PortsOf::nobody,
    .variables = deepspeed_variables};

}  // namespace trainrt::program::plugins
