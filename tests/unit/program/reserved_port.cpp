#include "program/rendezvous/reserved_port.hpp"

#include <set>
#include <vector>

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <catch2/catch.hpp>

#include "program/rendezvous/bound_sockets.hpp"
#include "program/rendezvous/interfaces.hpp"
#include "program/services/tcp_server.hpp"

using namespace trainrt::program;

namespace {

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

/// Returns a listening socket, or an empty Descriptor if the port cannot be bound.
trainrt::Descriptor listener(int port, bool with_reuse) {
  const int reuse = with_reuse ? 1 : 0;
  const auto address = loopback(port);
  trainrt::Descriptor found(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  setsockopt(found.get(), SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof reuse);
  if (bind(found.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return {};
  return listen(found.get(), 10) == 0 ? std::move(found) : trainrt::Descriptor();
}

trainrt::Descriptor connection_to(int port) {
  const auto address = loopback(port);
  trainrt::Descriptor found(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return connect(found.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ? std::move(found)
                                                                                                : trainrt::Descriptor();
}

}  // namespace

TEST_CASE("a reserved port is not given to sockets that ask for any port or connect") {
  std::vector<ReservedPort> reserved(20);
  std::set<int> numbers;
  for (const auto& port : reserved) numbers.insert(port.number());
  CHECK(numbers.size() == 20);
  const auto server = listener(0, true);
  std::vector<trainrt::Descriptor> others;
  int stolen = 0;
  for (int turn = 0; turn < 200; ++turn) {
    others.push_back(listener(0, turn % 2 == 0));
    others.push_back(connection_to(port_of(server)));
    REQUIRE(trainrt::Descriptor(accept(server.get(), nullptr, nullptr)));
    stolen += static_cast<int>(numbers.count(port_of(others.end()[-1])) + numbers.count(port_of(others.end()[-2])));
    if (others.size() > 100) others.clear();
  }
  CHECK(stolen == 0);
}

TEST_CASE("a socket with SO_REUSEADDR can listen on a reserved port, with IPv4 and IPv6, again and again") {
  const ReservedPort reserved;
  for (int turn = 0; turn < 3; ++turn) {
    const auto server = listener(reserved.number(), true);
    REQUIRE(server);
    CHECK(connection_to(reserved.number()));
    CHECK_FALSE(listener(reserved.number(), true));  // only one socket at a time can listen on the port
  }
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_port = htons(static_cast<std::uint16_t>(reserved.number()));
  const trainrt::Descriptor server(socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!server) return;  // a node without IPv6
  constexpr int on = 1;
  setsockopt(server.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  CHECK(bind(server.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  CHECK(listen(server.get(), 10) == 0);
  CHECK(connection_to(reserved.number()));
}

TEST_CASE("a reserved port does not answer, and cannot be bound without SO_REUSEADDR") {
  const ReservedPort reserved;
  CHECK_FALSE(connection_to(reserved.number()));
  CHECK_FALSE(listener(reserved.number(), false));
}

TEST_CASE("a port with the scope of this node is reached at 127.0.0.1 only") {
  const ReservedPort reserved(ListenScope::this_node);
  reserved.listen();
  CHECK(connection_to(reserved.number()));
  std::vector<std::string> others;
  for (const auto& each : addresses_of_this_node())
    if (!each.is_loopback) others.push_back(each.address);
  const EndSignal never;
  for (const auto& address : others) CHECK_THROWS(connect_to(address, reserved.number(), never.get(), 1));
}
