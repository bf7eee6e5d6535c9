#include "program/rendezvous/any_address.hpp"

#include <netinet/in.h>
#include <sys/socket.h>

namespace trainrt::program {

namespace {

template <class Address>
bool is_bound(int socket, const Address& address) {
  constexpr int on = 1;
  return setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
         bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

}  // namespace

Descriptor socket_on_any_address() {
  constexpr int off = 0;
  sockaddr_in6 both{};
  both.sin6_family = AF_INET6;
  both.sin6_addr = in6addr_any;
  Descriptor of_both(socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (of_both && setsockopt(of_both.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off) == 0 &&
      is_bound(of_both.get(), both))
    return of_both;
  sockaddr_in old{};
  old.sin_family = AF_INET;
  Descriptor of_old(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (of_old && is_bound(of_old.get(), old)) return of_old;
  return {};
}

Descriptor socket_on_loopback() {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  Descriptor found(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (found && is_bound(found.get(), address)) return found;
  return {};
}

int port_of(const Descriptor& socket) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  if (!socket || getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &length) != 0) return 0;
  const auto port = address.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(address).sin6_port
                                                  : reinterpret_cast<const sockaddr_in&>(address).sin_port;
  return ntohs(port);
}

}  // namespace trainrt::program
