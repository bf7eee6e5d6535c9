#include "program/services/peer.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <trainrt/error.hpp>

#include "program/rendezvous/interfaces.hpp"
#include "program/rendezvous/rendezvous.hpp"

namespace trainrt::program {

namespace {

double now_s() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

bool may_retry() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

/// Creates `socket` and starts to connect it, without waiting. Returns 0, or the errno of the failed call.
int start_connecting(Descriptor& socket, const std::string& address, int port) {
  sockaddr_in ipv4{AF_INET, htons(static_cast<std::uint16_t>(port)), {}, {}};
  sockaddr_in6 ipv6{AF_INET6, htons(static_cast<std::uint16_t>(port)), 0, {}, 0};
  const bool is_ipv4 = inet_pton(AF_INET, address.c_str(), &ipv4.sin_addr) == 1;
  if (!is_ipv4 && inet_pton(AF_INET6, address.c_str(), &ipv6.sin6_addr) != 1) return EINVAL;
  socket = Descriptor(::socket(is_ipv4 ? AF_INET : AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return errno;
  const auto* target = is_ipv4 ? reinterpret_cast<const sockaddr*>(&ipv4) : reinterpret_cast<const sockaddr*>(&ipv6);
  if (connect(socket.get(), target, is_ipv4 ? sizeof ipv4 : sizeof ipv6) == 0) return 0;
  return errno == EINPROGRESS ? 0 : errno;
}

}  // namespace

Peer::Peer(Descriptor socket, int end) : socket_(std::move(socket)), end_(end) {
  fcntl(socket_.get(), F_SETFL, O_NONBLOCK);
}

bool Peer::wait_for(short events, double until_s) const {
  std::array<pollfd, 2> waited{pollfd{socket_.get(), events, 0}, pollfd{end_, POLLIN, 0}};
  for (;;) {
    const double left_s = until_s - now_s();
    if (left_s <= 0) return false;
    const int found = poll(waited.data(), waited.size(), static_cast<int>(std::ceil(std::min(left_s, 1e6) * 1000)));
    if (found > 0) return waited[1].revents == 0;
    if (found < 0 && errno != EINTR) return false;
  }
}

bool Peer::take_arrived(std::string& bytes, std::size_t max_bytes) const {
  std::array<char, 4096> some{};
  while (bytes.size() < max_bytes) {
    const auto count = recv(get(), some.data(), std::min(some.size(), max_bytes - bytes.size()), MSG_DONTWAIT);
    if (count <= 0) return count < 0 && may_retry();
    bytes.append(some.data(), static_cast<std::size_t>(count));
  }
  return true;
}

std::size_t Peer::read_some(std::span<char> bytes, double limit_s) const {
  if (!put_back_.empty()) {
    const auto count = std::min(bytes.size(), put_back_.size());
    std::copy_n(put_back_.begin(), count, bytes.begin());
    put_back_.erase(0, count);
    return count;
  }
  const double until_s = now_s() + limit_s;
  while (wait_for(POLLIN, until_s)) {
    const auto count = recv(socket_.get(), bytes.data(), bytes.size(), 0);
    if (count > 0) return static_cast<std::size_t>(count);
    if (count == 0 || !may_retry()) break;
  }
  return 0;
}

bool Peer::read(std::span<char> bytes, double limit_s) const {
  const double until_s = now_s() + limit_s;
  while (!bytes.empty()) {
    const auto count = read_some(bytes, until_s - now_s());
    if (count == 0) return false;
    bytes = bytes.subspan(count);
  }
  return true;
}

bool Peer::write(std::string_view bytes, double limit_s) const {
  const double until_s = now_s() + limit_s;
  while (!bytes.empty() && wait_for(POLLOUT, until_s)) {
    const auto count = send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count < 0 && !may_retry()) return false;
    if (count > 0) bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return bytes.empty();
}

std::string Peer::address() const {
  sockaddr_storage other{};
  socklen_t length = sizeof other;
  if (getpeername(socket_.get(), reinterpret_cast<sockaddr*>(&other), &length) != 0) return {};
  return text_of(reinterpret_cast<const sockaddr*>(&other));
}

Peer connect_to(const std::string& address, int port, int end, double limit_s) {
  Descriptor socket;
  int error = start_connecting(socket, address, port);
  if (error == 0) {
    std::array<pollfd, 2> waited{pollfd{socket.get(), POLLOUT, 0}, pollfd{end, POLLIN, 0}};
    socklen_t length = sizeof error;
    if (poll(waited.data(), waited.size(), static_cast<int>(limit_s * 1000)) <= 0 || waited[1].revents != 0)
      error = ETIMEDOUT;
    else if (getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &length) != 0)
      error = errno;
  }
  if (error != 0)
    throw Error(fmt::format("cannot connect to {} on rank 0's node: {}", endpoint(address, port), std::strerror(error)));
  return {std::move(socket), end};
}

}  // namespace trainrt::program
