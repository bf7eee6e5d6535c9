#pragma once
#include <string>
#include <vector>

#include <sys/socket.h>

namespace trainrt::program {

/// An IP address of a network interface of this node.
struct InterfaceAddress {
  std::string interface;  ///< name of the interface: "eth0"
  std::string address;    ///< IP address: "10.0.0.1", "fd00::1"
  bool is_loopback = false;
};

/// Returns the addresses of those network interfaces of this node that are up, IPv4 first. Omits link-local addresses,
/// since other nodes cannot use them, and all loopback addresses except 127.0.0.1.
std::vector<InterfaceAddress> addresses_of_this_node();

/// Returns the name of the interface in `addresses` that has `address`; "" if no interface has it.
std::string interface_with(const std::string& address, const std::vector<InterfaceAddress>& addresses);

/// Returns an IPv4 or IPv6 address as text. An IPv6 address that contains an IPv4 address (IPv4-mapped) becomes IPv4
/// text. Returns "" for other address families.
std::string text_of(const sockaddr* address);

}  // namespace trainrt::program
