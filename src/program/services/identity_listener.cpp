#include "program/services/identity_listener.hpp"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <sys/socket.h>
#include <trainrt/error.hpp>

#include "program/rendezvous/bound_sockets.hpp"
#include "program/rendezvous/nonce.hpp"

namespace trainrt::program {

std::string_view challenge_of(std::string_view nonce) { return nonce.substr(0, nonce.size() / 2); }
std::string_view response_of(std::string_view nonce) { return nonce.substr(nonce.size() / 2); }

IdentityListener::IdentityListener() : nonce_(random_nonce()) {
  constexpr double limit_s = 1;             // the kernel buffers these few bytes, so that the write does not wait
  constexpr std::size_t max_pending = 256;  // one rank of each node connects, to several addresses
  auto socket = socket_on_all_addresses();
  port_ = port_of(socket);
  if (port_ == 0 || listen(socket.get(), SOMAXCONN) != 0)
    throw Error(fmt::format("this node cannot listen for connections of the other nodes: {}", std::strerror(errno)));
  server_ = std::make_unique<TcpServer>(
      std::move(socket),
      CallerPolicy{[](const std::string&) { return true; },
                   [this](const Peer&, std::string_view received, std::size_t) {
                     return admission_by_beginning(received, challenge_of(nonce_));
                   },
                   [this](const Peer& caller) { caller.write(response_of(nonce_), limit_s); }, max_pending});
}

}  // namespace trainrt::program
