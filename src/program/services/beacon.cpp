#include "program/services/beacon.hpp"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <sys/socket.h>
#include <trainrt/error.hpp>

#include "program/children/nonce.hpp"
#include "program/rendezvous/any_address.hpp"

namespace trainrt::program {

std::string_view question_of(std::string_view nonce) { return nonce.substr(0, nonce.size() / 2); }
std::string_view answer_of(std::string_view nonce) { return nonce.substr(nonce.size() / 2); }

Beacon::Beacon() : nonce_(made_up_nonce()) {
  constexpr double limit_s = 1;             // a few bytes, which the kernel takes at once
  constexpr std::size_t max_pending = 256;  // one rank of each node calls, at several addresses
  auto socket = socket_on_any_address();
  port_ = port_of(socket);
  if (port_ == 0 || listen(socket.get(), SOMAXCONN) != 0)
    throw Error(fmt::format("this node cannot listen for the others: {}", std::strerror(errno)));
  server_ = std::make_unique<TcpServer>(
      std::move(socket), Reception{[](const std::string&) { return true; },
                                   [this](const Peer&, std::string_view received, std::size_t) {
                                     return admission_by_beginning(received, question_of(nonce_));
                                   },
                                   [this](const Peer& caller) { caller.write(answer_of(nonce_), limit_s); }, max_pending});
}

}  // namespace trainrt::program
