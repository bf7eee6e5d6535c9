#include "program/environments/framework_environment.hpp"

namespace trainrt::program::plugins {

namespace {

std::vector<Variable> keras_variables(const Rendezvous& rendezvous, std::span<const int> ports) {
  return {{"KERAS_DISTRIBUTION_JOB_ADDRESSES", endpoint(rendezvous.addresses.at(0), ports[0])},
          {"KERAS_DISTRIBUTION_NUM_PROCESSES", std::to_string(rendezvous.size)},
          {"KERAS_DISTRIBUTION_PROCESS_ID", std::to_string(rendezvous.rank)}};
}

}  // namespace

extern const FrameworkEnvironment keras;
const FrameworkEnvironment keras{.name = "keras",
                                 .help = "KERAS_DISTRIBUTION_*: keras.distribution.initialize() of Keras 3 on JAX",
                                 .ports_of = PortsOf::first_rank,
                                 .variables = keras_variables};

}  // namespace trainrt::program::plugins
