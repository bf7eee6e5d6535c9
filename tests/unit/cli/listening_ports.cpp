#include <algorithm>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>
#include <catch2/catch.hpp>

#include "cli/doctor/listening_ports.hpp"

using namespace trainrt::cli;

TEST_CASE("addresses of the kernel's tables are parsed, and invalid ones are ignored") {
  CHECK(address_of("0100007F:A9B3") == "127.0.0.1:43443");
  CHECK(address_of("00000000000000000000000001000000:0016") == "[::1]:22");
  for (const auto* text : {"", "0100007F", "0100007F:", "01:02", "0100007G:0016"}) CHECK(address_of(text).empty());
}

TEST_CASE("a listening port of this process is found until it is closed") {
  const int socket_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  REQUIRE(bind(socket_fd, reinterpret_cast<sockaddr*>(&address), size) == 0);
  REQUIRE(listen(socket_fd, 1) == 0);
  REQUIRE(getsockname(socket_fd, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  const auto mine = fmt::format("127.0.0.1:{}", ntohs(address.sin_port));
  CHECK(std::ranges::count(listening_ports(), mine) == 1);
  close(socket_fd);
  CHECK(std::ranges::count(listening_ports(), mine) == 0);
}
