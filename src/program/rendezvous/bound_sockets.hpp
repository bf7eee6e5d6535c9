#pragma once
#include "core/descriptor.hpp"

namespace trainrt::program {

/// Returns a TCP socket that is bound with SO_REUSEADDR to a free port of all addresses of this node: IPv6 and IPv4, or
/// IPv4 alone if the node has no IPv6. Returns an empty Descriptor and sets errno if that fails. Child processes do not
/// inherit the socket.
Descriptor socket_on_all_addresses();

/// Like socket_on_all_addresses(), but bound to 127.0.0.1 only.
Descriptor socket_on_loopback();

/// Returns the port that the socket is bound to, or 0 and sets errno.
int port_of(const Descriptor& socket);

}  // namespace trainrt::program
