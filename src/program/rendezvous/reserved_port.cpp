#include "program/rendezvous/reserved_port.hpp"

#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <sys/socket.h>
#include <trainrt/error.hpp>

#include "program/rendezvous/bound_sockets.hpp"

namespace trainrt::program {

ReservedPort::ReservedPort(ListenScope scope)
    : socket_(scope == ListenScope::this_node ? socket_on_loopback() : socket_on_all_addresses()) {
  number_ = port_of(socket_);
  if (number_ == 0) throw Error(fmt::format("cannot reserve a TCP port on this node: {}", std::strerror(errno)));
}

void ReservedPort::listen() const {
  if (::listen(socket_.get(), SOMAXCONN) != 0)
    throw Error(fmt::format("cannot listen on port {} of this node: {}", number_, std::strerror(errno)));
}

}  // namespace trainrt::program
