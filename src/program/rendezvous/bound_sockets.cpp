#include "program/rendezvous/bound_sockets.hpp"

#include <netinet/in.h>
#include <sys/socket.h>

namespace trainrt::program {

namespace {

template <class Address>
bool binds(int socket, const Address& address) {
  constexpr int on = 1;
  return setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
         bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

}  // namespace

Descriptor socket_on_all_addresses() {
  constexpr int off = 0;
  sockaddr_in6 ipv6{};
  ipv6.sin6_family = AF_INET6;
  ipv6.sin6_addr = in6addr_any;
  Descriptor dual(socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (dual && setsockopt(dual.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off) == 0 && binds(dual.get(), ipv6))
    return dual;
  sockaddr_in ipv4{};
  ipv4.sin_family = AF_INET;
  Descriptor ipv4_socket(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (ipv4_socket && binds(ipv4_socket.get(), ipv4)) return ipv4_socket;
  return {};
}

Descriptor socket_on_loopback() {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  Descriptor found(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (found && binds(found.get(), address)) return found;
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
