#pragma once
#include <string>
#include <vector>

#include <trainrt/communicator.hpp>

#include "frameworks/program/framework_environment.hpp"
#include "frameworks/program/meeting.hpp"
#include "frameworks/program/reserved_port.hpp"

namespace trainrt::program {

/// What the ranks arrange for their programs, anew at each start: addresses that are reached, and ports, which are kept
/// while this lives. Nothing of it is on disk.
class Arrangement {
 public:
  /// Fills in what only the ranks together know: size and node count, CPUs, interface, addresses and ports. Collective.
  /// Throws what find_addresses() throws.
  Arrangement(Communicator& communicator, Meeting known, const Frameworks& frameworks, const std::string& interface);

  const Meeting& meeting() const { return meeting_; }

 private:
  std::vector<ReservedPort> reserved_;
  Meeting meeting_;
};

}  // namespace trainrt::program
