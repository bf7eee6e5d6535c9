#pragma once
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <trainrt/communicator.hpp>

#include "program/environments/framework_environment.hpp"
#include "program/rendezvous/rendezvous.hpp"
#include "program/rendezvous/reserved_port.hpp"
#include "program/services/service.hpp"

namespace trainrt::program {

/// Owns the ports and services that the ranks provide to their programs, for one start of the programs. The destructor
/// frees the ports and stops the services.
class LaunchServices {
 public:
  /// Reserves the ports and starts the services. `known` contains the members of Rendezvous that this rank knows; the
  /// constructor sets those that need all ranks: size, nodes, CPUs, addresses, interface, ports, secrets and sockets.
  /// Throws the errors of find_addresses(), and Error if a service cannot start. Collective.
  LaunchServices(Communicator& communicator, Rendezvous known, const Frameworks& frameworks, const std::string& interface);

  const Rendezvous& rendezvous() const { return rendezvous_; }
  /// Returns the file descriptors of the sockets that the program must inherit.
  std::vector<int> sockets() const;
  void program_has_started(pid_t group) const;

 private:
  void warn_if_crowded(const std::string& mine, std::span<const std::string> of_node) const;
  void reserve(const Frameworks& frameworks, int rank, ListenScope scope_of_services);
  void start(const Frameworks& frameworks);

  std::map<const FrameworkEnvironment*, ReservedPort> reserved_;
  Rendezvous rendezvous_;
  std::vector<std::unique_ptr<Service>> services_;
};

}  // namespace trainrt::program
