#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <trainrt/communicator.hpp>

namespace trainrt::program {

/// What a node found out about the addresses that the first rank's node offers.
struct Survey {
  std::string host;
  std::vector<std::string> from;  ///< for each of them the address of this node that it was reached from; "" if it was not
};

/// The first that all nodes reach. Pure.
std::optional<std::size_t> first_reached_by_all(std::size_t count, std::span<const Survey> surveys);

/// "n2 does not reach 10.0.0.1, 10.1.0.1; n3 does not reach 10.1.0.1": for messages, if there is none. Pure.
std::string unreached_by(std::span<const std::string> addresses, std::span<const Survey> surveys);

/// Where the nodes of a run are found.
struct NodeAddresses {
  std::vector<std::string> of_nodes;  ///< as the others reach them
  std::string interface;              ///< that has this node's; "" if it is not known
};

/// The first rank's node is found at an address that every other node reaches: proved here, as one rank of each connects
/// to it; another node at the address that it did so from. On one node 127.0.0.1. With `interface` (program.interface) it
/// is one of that interface on the first rank's node. An Error, the same on all ranks, says which node does not reach what,
/// or lists the interfaces if it is none. Collective; the waits are limited to some seconds. `node_of_rank` is dense, by
/// lowest rank.
NodeAddresses find_addresses(Communicator& communicator, std::span<const int> node_of_rank, const std::string& interface);

}  // namespace trainrt::program
