#pragma once
#include "core/descriptor.hpp"

namespace trainrt::program {

/// Returns a TCP socket that is bound with SO_REUSEADDR to a free port on all IPv6 and IPv4 addresses of this node, or
/// on IPv4 alone if the node has no IPv6. On failure, returns an empty Descriptor and sets errno. Child processes do
/// not inherit the socket.
Descriptor socket_on_all_addresses();

/// Returns a socket like that of socket_on_all_addresses(), but bound to 127.0.0.1 only.
Descriptor socket_on_loopback();

/// Returns the port to which the socket is bound. On failure, returns 0 and sets errno.
int port_of(const Descriptor& socket);

}  // namespace trainrt::program
