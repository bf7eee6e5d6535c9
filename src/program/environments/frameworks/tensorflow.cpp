#include <nlohmann/json.hpp>

#include "program/environments/framework_environment.hpp"

namespace trainrt::program::plugins {

namespace {

std::vector<Variable> tensorflow_variables(const Rendezvous& rendezvous, std::span<const int> ports) {
  auto workers = nlohmann::ordered_json::array();
  for (std::size_t rank = 0; rank < ports.size(); ++rank)
    workers.push_back(endpoint(rendezvous.addresses.at(rank), ports[rank]));
  const nlohmann::ordered_json config = {{"cluster", {{"worker", workers}}},
                                         {"task", {{"type", "worker"}, {"index", rendezvous.rank}}}};
  return {{"TF_CONFIG", config.dump()}};
}

}  // namespace

extern const FrameworkEnvironment tensorflow;
const FrameworkEnvironment tensorflow{.name = "tensorflow",
                                      .help = "TF_CONFIG, with one port per rank: MultiWorkerMirroredStrategy",
                                      .ports_of = PortsOf::every_rank,
                                      .variables = tensorflow_variables};

}  // namespace trainrt::program::plugins
