#include "program/environments/framework_environment.hpp"

namespace trainrt::program::plugins {

namespace {

std::vector<Variable> accelerate_variables(const Meeting& meeting, std::span<const int>) {
  if (meeting.has_gpu) return {};
  return {{"ACCELERATE_USE_CPU", "true", true}};
}

}  // namespace

extern const FrameworkEnvironment accelerate;
const FrameworkEnvironment accelerate{
    .name = "accelerate",
    .help = "ACCELERATE_USE_CPU=true without a GPU: Accelerate and Transformers' Trainer, which would train alone",
    .ports_of = PortsOf::nobody,
    .variables = accelerate_variables};

}  // namespace trainrt::program::plugins
