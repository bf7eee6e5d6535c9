#include "program/rendezvous/reserved_port.hpp"

#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <sys/socket.h>
#include <trainrt/error.hpp>

#include "program/rendezvous/any_address.hpp"

namespace trainrt::program {

ReservedPort::ReservedPort(Reach reach)
    : socket_(reach == Reach::this_node ? socket_on_loopback() : socket_on_any_address()) {
  number_ = port_of(socket_);
  if (number_ == 0) throw Error(fmt::format("no TCP port can be had on this node: {}", std::strerror(errno)));
}

void ReservedPort::listen() const {
  if (::listen(socket_.get(), SOMAXCONN) != 0)
    throw Error(fmt::format("this node cannot listen on port {}: {}", number_, std::strerror(errno)));
}

}  // namespace trainrt::program
