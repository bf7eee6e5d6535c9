#include "frameworks/program/reserved_port.hpp"

#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "frameworks/program/any_address.hpp"

namespace trainrt::program {

ReservedPort::ReservedPort() : socket_(socket_on_any_address()) {
  number_ = port_of(socket_);
  if (number_ == 0) throw Error(fmt::format("no TCP port can be had on this node: {}", std::strerror(errno)));
}

}  // namespace trainrt::program
