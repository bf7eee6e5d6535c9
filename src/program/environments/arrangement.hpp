#pragma once
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <trainrt/communicator.hpp>

#include "program/environments/framework_environment.hpp"
#include "program/rendezvous/meeting.hpp"
#include "program/rendezvous/reserved_port.hpp"
#include "program/services/service.hpp"

namespace trainrt::program {

/// What the ranks arrange for their programs, anew at each start: addresses that are reached, and ports and services,
/// which are kept while this lives. Nothing of it is on disk.
class Arrangement {
 public:
  /// Fills in what only the ranks together know: size and node count, CPUs, interface, addresses and ports. Collective.
  /// Throws what find_addresses() throws, and Error if a service cannot start.
  Arrangement(Communicator& communicator, Meeting known, const Frameworks& frameworks, const std::string& interface);

  const Meeting& meeting() const { return meeting_; }
  /// What the program inherits for its services.
  std::vector<int> sockets() const;
  void program_has_started(pid_t group) const;

 private:
  void take_cpus(const std::string& mine, std::span<const std::string> of_node);
  void reserve(const Frameworks& frameworks, int rank, Reach of_services);
  void start_services(const Frameworks& frameworks);

  std::map<const FrameworkEnvironment*, ReservedPort> reserved_;
  Meeting meeting_;
  std::vector<std::unique_ptr<Service>> services_;
};

}  // namespace trainrt::program
