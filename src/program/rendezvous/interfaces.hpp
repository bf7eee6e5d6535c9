#pragma once
#include <string>
#include <vector>

#include <sys/socket.h>

namespace trainrt::program {

/// An address of a network interface of this node.
struct InterfaceAddress {
  std::string interface;  ///< "eth0"
  std::string address;    ///< "10.0.0.1", "fd00::1"
  bool is_loopback = false;
};

/// Returns the addresses of this node's interfaces that are up, IPv4 first. Link-local addresses are omitted because other
/// nodes cannot use them, and loopback addresses other than 127.0.0.1 too.
std::vector<InterfaceAddress> addresses_of_this_node();

/// Returns the interface that has `address`, or "".
std::string interface_with(const std::string& address, const std::vector<InterfaceAddress>& addresses);

/// Returns an IPv4 or IPv6 address as text, an IPv4-mapped IPv6 address as IPv4. Returns "" for other families.
std::string text_of(const sockaddr* address);

}  // namespace trainrt::program
