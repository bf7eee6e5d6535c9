#include <set>

#include "program/environments/framework_environment.hpp"
#include "program/services/horovod_store.hpp"

namespace trainrt::program::plugins {

namespace {

/// Position of a rank among the ranks with the same local rank on all nodes. If the nodes have different numbers of
/// ranks, some nodes have no rank with this local rank.
struct Cross {
  int rank = 0;
  int size = 0;
};

Cross cross_of(const Rendezvous& rendezvous) {
  Cross cross;
  std::map<int, int> local_sizes;
  for (std::size_t rank = 0; rank < rendezvous.nodes.size(); ++rank) {
    if (local_sizes[rendezvous.nodes[rank]]++ != rendezvous.local_rank) continue;
    if (static_cast<int>(rank) < rendezvous.rank) ++cross.rank;
    ++cross.size;
  }
  return cross;
}

std::vector<Variable> horovod_variables(const Rendezvous& rendezvous, std::span<const int> ports) {
  const auto number = [](int value) { return std::to_string(value); };
  const auto cross = cross_of(rendezvous);
  std::vector<Variable> variables = {{"HOROVOD_RANK", number(rendezvous.rank)},
                                     {"HOROVOD_SIZE", number(rendezvous.size)},
                                     {"HOROVOD_LOCAL_RANK", number(rendezvous.local_rank)},
                                     {"HOROVOD_LOCAL_SIZE", number(rendezvous.local_size)},
                                     {"HOROVOD_CROSS_RANK", number(cross.rank)},
                                     {"HOROVOD_CROSS_SIZE", number(cross.size)},
                                     {"HOROVOD_HOSTNAME", horovod_host_name(rendezvous.node_rank)},
                                     {"HOROVOD_CONTROLLER", "gloo", true},
                                     {"HOROVOD_CPU_OPERATIONS", "gloo", true},
                                     {"HOROVOD_GLOO_RENDEZVOUS_ADDR", horovod_rendezvous_address(rendezvous, ports[0])},
                                     {"HOROVOD_GLOO_RENDEZVOUS_PORT", number(ports[0])}};
  if (!rendezvous.interface.empty()) variables.push_back({"HOROVOD_GLOO_IFACE", rendezvous.interface, true});
  return variables;
}

std::unique_ptr<Service> horovod_service(const Rendezvous& rendezvous, std::span<const int>, Descriptor listener) {
  return listener ? std::make_unique<HorovodStore>(rendezvous, std::move(listener)) : nullptr;
}

}  // namespace

extern const FrameworkEnvironment horovod;
const FrameworkEnvironment horovod{
    .name = "horovod",
    .help = "HOROVOD_RANK, HOROVOD_SIZE and the other variables of horovodrun, and its key-value store, for hvd.init()",
    .ports_of = PortsOf::first_rank,
    .variables = horovod_variables,
    .serve = horovod_service};

}  // namespace trainrt::program::plugins
