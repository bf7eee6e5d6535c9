#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <trainrt/communicator.hpp>

namespace trainrt::program {

/// Result of one node's attempt to connect to each address of the node of rank 0.
struct AddressSurvey {
  std::string host;
  std::vector<std::string> from;  ///< for each address, the local address that connected to it, or ""
};

/// Returns the index of the first of `count` addresses that all nodes have reached, or nothing if there is no such
/// address. Pure function.
std::optional<std::size_t> first_reached_by_all(std::size_t count, std::span<const AddressSurvey> surveys);

/// Returns the part of an error message that lists, for each node, the addresses that the node did not reach: "n2 does
/// not reach 10.0.0.1, 10.1.0.1; n3 does not reach 10.1.0.1". Pure function.
std::string unreached_by(std::span<const std::string> addresses, std::span<const AddressSurvey> surveys);

/// The result of find_addresses(): addresses of the nodes of a run.
struct NodeAddresses {
  std::vector<std::string> of_nodes;  ///< address of each node; the other nodes can reach the node at this address
  std::string interface;              ///< network interface of this node that has the node's address; "" if unknown
};

/// Finds an address of rank 0's node that every other node reaches. For this, one rank of each node connects to the
/// addresses of rank 0's node. The address of another node is the local address of its connection. With `interface`
/// (program.interface), only the addresses of this network interface of rank 0's node are tried. With one node and an
/// empty `interface`, the address is 127.0.0.1. `node_of_rank` contains the node of each rank; nodes are numbered
/// without gaps in the order of their lowest ranks. Throws, on all ranks, an Error that names the unreached addresses,
/// or a UsageError that lists the interfaces of rank 0's node if `interface` does not exist. Collective; takes at most
/// about 12 s.
NodeAddresses find_addresses(Communicator& communicator, std::span<const int> node_of_rank, const std::string& interface);

}  // namespace trainrt::program
