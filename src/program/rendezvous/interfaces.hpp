#pragma once
#include <string>
#include <vector>

#include <sys/socket.h>

namespace trainrt::program {

struct InterfaceAddress {
  std::string interface;
  std::string address;  ///< "10.0.0.1", "fd00::1"
  bool is_loopback = false;
};

/// The addresses of this node's interfaces that are up, IPv4 first: without those that mean nothing elsewhere (of a link
/// only), and of the loopback's 127.0.0.1 alone.
std::vector<InterfaceAddress> addresses_of_this_node();

/// The interface that has an address; "" if none.
std::string interface_with(const std::string& address, const std::vector<InterfaceAddress>& addresses);

/// An address as text; "" if it is neither IPv4 nor IPv6. IPv4 in IPv6's clothes is IPv4.
std::string text_of(const sockaddr* address);

}  // namespace trainrt::program
