#pragma once
#include "core/descriptor.hpp"

namespace trainrt::program {

/// A TCP socket bound with SO_REUSEADDR to a free port of all addresses of this node, IPv6 and IPv4 (the latter alone on a
/// node without the other). An empty one and errno if there is none. Programs do not inherit it.
Descriptor socket_on_any_address();

/// The same on 127.0.0.1 alone.
Descriptor socket_on_loopback();

/// The port that it is bound to; 0 and errno if none.
int port_of(const Descriptor& socket);

}  // namespace trainrt::program
