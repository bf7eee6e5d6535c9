#include <set>

#include "program/environments/framework_environment.hpp"
#include "program/services/rendezvous_server.hpp"

namespace trainrt::program::plugins {

namespace {

/// Among the ranks that have the same local rank, one a node; not every node has one if the layout is uneven.
struct Cross {
  int rank = 0;
  int size = 0;
};

Cross cross_of(const Meeting& meeting) {
  Cross cross;
  std::map<int, int> local_sizes;
  for (std::size_t rank = 0; rank < meeting.nodes.size(); ++rank) {
    if (local_sizes[meeting.nodes[rank]]++ != meeting.local_rank) continue;
    if (static_cast<int>(rank) < meeting.rank) ++cross.rank;
    ++cross.size;
  }
  return cross;
}

std::vector<Variable> horovod_variables(const Meeting& meeting, std::span<const int> ports) {
  const auto number = [](int value) { return std::to_string(value); };
  const auto cross = cross_of(meeting);
  std::vector<Variable> variables = {{"HOROVOD_RANK", number(meeting.rank)},
                                     {"HOROVOD_SIZE", number(meeting.size)},
                                     {"HOROVOD_LOCAL_RANK", number(meeting.local_rank)},
                                     {"HOROVOD_LOCAL_SIZE", number(meeting.local_size)},
                                     {"HOROVOD_CROSS_RANK", number(cross.rank)},
                                     {"HOROVOD_CROSS_SIZE", number(cross.size)},
                                     {"HOROVOD_HOSTNAME", horovod_host_name(meeting.node_rank)},
                                     {"HOROVOD_CONTROLLER", "gloo", true},
                                     {"HOROVOD_CPU_OPERATIONS", "gloo", true},
                                     {"HOROVOD_GLOO_RENDEZVOUS_ADDR", horovod_rendezvous_address(meeting, ports[0])},
                                     {"HOROVOD_GLOO_RENDEZVOUS_PORT", number(ports[0])}};
  if (!meeting.interface.empty()) variables.push_back({"HOROVOD_GLOO_IFACE", meeting.interface, true});
  return variables;
}

std::unique_ptr<Service> horovod_service(const Meeting& meeting, std::span<const int>, Descriptor listener) {
  return listener ? std::make_unique<RendezvousServer>(meeting, std::move(listener)) : nullptr;
}

}  // namespace

extern const FrameworkEnvironment horovod;
const FrameworkEnvironment horovod{
    .name = "horovod",
    .help = "HOROVOD_RANK, HOROVOD_SIZE and the rest of what horovodrun sets, with its rendezvous: hvd.init()",
    .ports_of = PortsOf::first_rank,
    .variables = horovod_variables,
    .serve = horovod_service};

}  // namespace trainrt::program::plugins
