#include "program/services/reach.hpp"

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
#include "program/services/beacon.hpp"

namespace trainrt::program {

namespace {

using Moment = std::chrono::steady_clock;

/// One connection that is tried.
class Trial {
 public:
  Trial(const std::string& address, int port, const std::string& nonce) : nonce_(nonce) {
    sockaddr_in old{AF_INET, htons(static_cast<std::uint16_t>(port)), {}, {}};
    sockaddr_in6 now{AF_INET6, htons(static_cast<std::uint16_t>(port)), 0, {}, 0};
    if (inet_pton(AF_INET, address.c_str(), &old.sin_addr) == 1)
      connect_to(reinterpret_cast<const sockaddr*>(&old), sizeof old);
    else if (inet_pton(AF_INET6, address.c_str(), &now.sin6_addr) == 1)
      connect_to(reinterpret_cast<const sockaddr*>(&now), sizeof now);
  }

  int socket() const { return socket_.get(); }
  bool is_open() const { return static_cast<bool>(socket_); }
  const std::string& from() const { return from_; }  ///< "" unless it has been reached

  /// What it waits for: to be connected, then for the answer.
  short events() const { return has_asked_ ? POLLIN : POLLOUT; }

  /// What it waited for has happened, or it failed.
  void look() {
    if (!has_asked_) {
      const auto question = question_of(nonce_);
      has_asked_ = send(socket(), question.data(), question.size(), MSG_NOSIGNAL) == std::ssize(question);
      if (!has_asked_) socket_ = Descriptor();
      return;
    }
    std::array<char, 64> bytes{};
    const auto count = recv(socket(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (count > 0) heard_.append(bytes.data(), static_cast<std::size_t>(count));
    if (count > 0 && heard_.size() < answer_of(nonce_).size()) return;
    if (heard_ == answer_of(nonce_)) note_own_address();
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
  bool has_asked_ = false;
  std::string heard_;
  std::string from_;
};

/// False once there is nothing to wait for.
bool look_at_all(std::vector<Trial>& trials, double most_s) {
  std::vector<pollfd> waited;
  std::vector<Trial*> open;
  for (auto& trial : trials) {
    if (!trial.is_open()) continue;
    waited.push_back({trial.socket(), trial.events(), 0});
    open.push_back(&trial);
  }
  if (open.empty() || most_s <= 0) return false;
  poll(waited.data(), waited.size(), static_cast<int>(std::ceil(most_s * 1000)));
  for (std::size_t at = 0; at < open.size(); ++at)
    if (waited[at].revents != 0) open[at]->look();
  return true;
}

}  // namespace

std::vector<std::string> reached_from(std::span<const std::string> addresses, int port, const std::string& nonce,
                                      ConnectLimits limits) {
  std::vector<Trial> trials;
  for (const auto& address : addresses) trials.emplace_back(address, port, nonce);
  const auto seconds = [](double count) {
    return std::chrono::duration_cast<Moment::duration>(std::chrono::duration<double>(count));
  };
  auto end = Moment::now() + seconds(limits.limit_s);
  bool has_reached_one = false;
  while (look_at_all(trials, std::chrono::duration<double>(end - Moment::now()).count())) {
    if (has_reached_one || std::ranges::none_of(trials, [](const Trial& trial) { return !trial.from().empty(); })) continue;
    has_reached_one = true;
    end = std::min(end, Moment::now() + seconds(limits.after_first_s));
  }
  std::vector<std::string> from;
  for (const auto& trial : trials) from.push_back(trial.from());
  return from;
}

}  // namespace trainrt::program
