#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <trainrt/communicator.hpp>

namespace trainrt::program {

/// Result of one node's test of the addresses of rank 0's node.
struct AddressSurvey {
  std::string host;
  std::vector<std::string> from;  ///< for each address, the local address that reached it; "" if it was not reached
};

/// Returns the index of the first of `count` addresses that all nodes reach, or nothing. Pure.
std::optional<std::size_t> first_reached_by_all(std::size_t count, std::span<const AddressSurvey> surveys);

/// Returns the addresses that were not reached, for an error message: "n2 does not reach 10.0.0.1, 10.1.0.1; n3 does not
/// reach 10.1.0.1". Pure.
std::string unreached_by(std::span<const std::string> addresses, std::span<const AddressSurvey> surveys);

/// Addresses of the nodes of a run.
struct NodeAddresses {
  std::vector<std::string> of_nodes;  ///< address of each node, as the other nodes reach it
  std::string interface;              ///< interface of this node that has its address; "" if unknown
};

/// Finds an address of rank 0's node that every other node reaches: one rank of each node connects to it. The address of
/// another node is the one from which it connected. With one node, the result is 127.0.0.1. With `interface`
/// (program.interface), only addresses of that interface of rank 0's node are considered. `node_of_rank` numbers the nodes
/// without gaps in the order of their lowest ranks. Throws, on all ranks, an Error that names the unreached addresses, or a
/// UsageError that lists the interfaces if `interface` does not exist. Collective; takes at most about 12 s.
NodeAddresses find_addresses(Communicator& communicator, std::span<const int> node_of_rank, const std::string& interface);

}  // namespace trainrt::program
