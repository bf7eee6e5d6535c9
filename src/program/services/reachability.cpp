#include "program/services/reachability.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include "core/descriptor.hpp"
#include "program/rendezvous/interfaces.hpp"
#include "program/services/identity_listener.hpp"

namespace trainrt::program {

namespace {

using Moment = std::chrono::steady_clock;

/// An attempt to connect to one address of another node, and to verify the answer of the IdentityListener there.
class AddressProbe {
 public:
  AddressProbe(const std::string& address, int port, const std::string& nonce) : nonce_(nonce) {
    sockaddr_in ipv4{AF_INET, htons(static_cast<std::uint16_t>(port)), {}, {}};
    sockaddr_in6 ipv6{AF_INET6, htons(static_cast<std::uint16_t>(port)), 0, {}, 0};
    if (inet_pton(AF_INET, address.c_str(), &ipv4.sin_addr) == 1)
      connect_to(reinterpret_cast<const sockaddr*>(&ipv4), sizeof ipv4);
    else if (inet_pton(AF_INET6, address.c_str(), &ipv6.sin6_addr) == 1)
      connect_to(reinterpret_cast<const sockaddr*>(&ipv6), sizeof ipv6);
  }

  int socket() const { return socket_.get(); }
  bool is_open() const { return static_cast<bool>(socket_); }
  const std::string& from() const { return from_; }  ///< local address; "" before the listener has answered

  /// Returns the poll() events for which the probe waits: POLLOUT until the socket is connected, then POLLIN.
  short events() const { return has_sent_ ? POLLIN : POLLOUT; }

  /// Sends the challenge or reads the response, after poll() has reported an event of the socket.
  void advance() {
    if (!has_sent_) {
      const auto challenge = challenge_of(nonce_);
      has_sent_ = send(socket(), challenge.data(), challenge.size(), MSG_NOSIGNAL) == std::ssize(challenge);
      if (!has_sent_) socket_ = Descriptor();
      return;
    }
    std::array<char, 64> bytes{};
    const auto count = recv(socket(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (count > 0) received_.append(bytes.data(), static_cast<std::size_t>(count));
    if (count > 0 && received_.size() < response_of(nonce_).size()) return;
    if (received_ == response_of(nonce_)) note_own_address();
    socket_ = Descriptor();
  }

 private:
  void connect_to(const sockaddr* address, socklen_t length) {
    socket_ = Descriptor(::socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (socket_ && connect(socket(), address, length) != 0 && errno != EINPROGRESS) socket_ = Descriptor();
  }

  void note_own_address() {
    sockaddr_storage own{};
    socklen_t length = sizeof own;
    if (getsockname(socket(), reinterpret_cast<sockaddr*>(&own), &length) == 0)
      from_ = text_of(reinterpret_cast<const sockaddr*>(&own));
  }

  const std::string& nonce_;
  Descriptor socket_;
  bool has_sent_ = false;
  std::string received_;
  std::string from_;
};

/// Waits at most `limit_s` for an event of any open probe, and advances each probe that has an event. Returns false if no
/// probe is open or the time is up.
bool advance_all(std::vector<AddressProbe>& probes, double limit_s) {
  std::vector<pollfd> waited;
  std::vector<AddressProbe*> open;
  for (auto& probe : probes) {
    if (!probe.is_open()) continue;
    waited.push_back({probe.socket(), probe.events(), 0});
    open.push_back(&probe);
  }
  if (open.empty() || limit_s <= 0) return false;
  poll(waited.data(), waited.size(), static_cast<int>(std::ceil(limit_s * 1000)));
  for (std::size_t at = 0; at < open.size(); ++at)
    if (waited[at].revents != 0) open[at]->advance();
  return true;
}

}  // namespace

std::vector<std::string> probe_addresses(std::span<const std::string> addresses, int port, const std::string& nonce,
                                         ConnectLimits limits) {
  std::vector<AddressProbe> probes;
  for (const auto& address : addresses) probes.emplace_back(address, port, nonce);
  const auto seconds = [](double count) {
    return std::chrono::duration_cast<Moment::duration>(std::chrono::duration<double>(count));
  };
  auto end = Moment::now() + seconds(limits.limit_s);
  bool has_reached_one = false;
  while (advance_all(probes, std::chrono::duration<double>(end - Moment::now()).count())) {
    if (has_reached_one || std::ranges::none_of(probes, [](const AddressProbe& probe) { return !probe.from().empty(); }))
      continue;
    has_reached_one = true;
    end = std::min(end, Moment::now() + seconds(limits.after_first_s));
  }
  std::vector<std::string> from;
  for (const auto& probe : probes) from.push_back(probe.from());
  return from;
}

}  // namespace trainrt::program
