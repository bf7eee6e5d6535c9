#include "frameworks/program/beacon.hpp"

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <trainrt/error.hpp>

#include "core/thread.hpp"
#include "frameworks/program/any_address.hpp"
#include "frameworks/program/nonce.hpp"

namespace trainrt::program {

Beacon::Beacon() : socket_(socket_on_any_address()), end_(eventfd(0, EFD_CLOEXEC)), nonce_(made_up_nonce()) {
  port_ = port_of(socket_);
  if (port_ == 0 || !end_ || listen(socket_.number(), SOMAXCONN) != 0 || fcntl(socket_.number(), F_SETFL, O_NONBLOCK) != 0)
    throw Error(fmt::format("this node cannot listen for the others: {}", std::strerror(errno)));
  thread_ = thread_without_signals([this] { answer(); });
}

Beacon::~Beacon() {
  constexpr std::uint64_t one = 1;
  static_cast<void>(!write(end_.number(), &one, sizeof one));
  thread_.join();
}

void Beacon::answer() const {
  std::array<pollfd, 2> waited{pollfd{socket_.number(), POLLIN, 0}, pollfd{end_.number(), POLLIN, 0}};
  while (poll(waited.data(), waited.size(), -1) > 0 && waited[1].revents == 0) {
    const Descriptor caller(accept4(socket_.number(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (caller) static_cast<void>(send(caller.number(), nonce_.data(), nonce_.size(), MSG_NOSIGNAL));
  }
}

}  // namespace trainrt::program
