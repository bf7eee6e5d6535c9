#include "program/services/tcp_server.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <exception>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <trainrt/error.hpp>

#include "core/process/thread.hpp"

namespace trainrt::program {

EndSignal::EndSignal() : event_(eventfd(0, EFD_CLOEXEC)) {
  if (!event_) throw Error(fmt::format("cannot create an eventfd: {}", std::strerror(errno)));
}

void EndSignal::raise() const {
  constexpr std::uint64_t one = 1;
  static_cast<void>(!write(event_.get(), &one, sizeof one));
}

std::size_t max_pending_for(int ranks) { return static_cast<std::size_t>(std::max(64, ranks)); }

TcpServer::TcpServer(Descriptor listener, CallerPolicy policy)
    : listener_(std::move(listener)), policy_(std::move(policy)) {
  fcntl(listener_.get(), F_SETFL, O_NONBLOCK);  // otherwise accept() would block after a caller has disconnected
  thread_ = thread_without_signals([this] { run(); });
}

TcpServer::~TcpServer() {
  end_.raise();
  thread_.join();
}

void TcpServer::run() {
  while (wait()) {
    accept_callers();
    examine_callers();
  }
}

/// Waits until a caller connects, bytes arrive, or the time limit of the oldest caller has passed. Returns false when
/// the server must stop.
bool TcpServer::wait() {
  std::vector<pollfd> waited = {{end_.get(), POLLIN, 0}, {listener_.get(), POLLIN, 0}};
  for (const auto& caller : pending_) waited.push_back({caller.peer.get(), POLLIN, 0});
  int limit_ms = -1;
  if (!pending_.empty()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(pending_.front().until - Clock::now());
    limit_ms = static_cast<int>(std::max<std::int64_t>(0, left.count()));
  }
  if (poll(waited.data(), waited.size(), limit_ms) < 0 && errno != EINTR) return false;
  return waited[0].revents == 0;
}

/// Accepts a limited number of callers. Without the limit, new callers could replace all pending callers before the server
/// has examined them.
void TcpServer::accept_callers() {
  constexpr int max_at_once = 32;
  constexpr int pause_ms = 100;  // wait after the process has reached its limit of open files
  for (int count = 0; count < max_at_once; ++count) {
    Descriptor socket(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket && (errno == EMFILE || errno == ENFILE)) {
      if (!pending_.empty()) pending_.pop_front();
      pollfd end{end_.get(), POLLIN, 0};
      poll(&end, 1, pause_ms);
    }
    if (!socket) return;
    Peer peer(std::move(socket), end_.get());
    if (!policy_.is_of_this_run(peer.address())) continue;
    if (pending_.size() >= policy_.max_pending) pending_.pop_front();
    pending_.push_back({std::move(peer), Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                                            std::chrono::duration<double>(max_pending_s))});
  }
}

void TcpServer::examine_callers() {
  for (auto caller = pending_.begin(); caller != pending_.end();) {
    const auto admission = examine(*caller);
    if (admission == Admission::pending) {
      ++caller;
      continue;
    }
    Peer peer = std::move(caller->peer);
    peer.put_back(std::move(caller->received));
    caller = pending_.erase(caller);
    if (admission == Admission::refused) continue;
    try {
      policy_.serve(std::move(peer));
    } catch (const std::exception&) {
      // the caller has disconnected or sent an invalid message; the connection is closed
    }
  }
}

Admission TcpServer::examine(Caller& caller) const try {
  const auto examined = caller.received.size();
  const bool is_open = caller.peer.take_arrived(caller.received, max_greeting_bytes);
  if (caller.received.size() > examined) {
    const auto admission = policy_.admit(caller.peer, caller.received, examined);
    if (admission != Admission::pending) return admission;
  }
  const bool is_over = !is_open || caller.received.size() == max_greeting_bytes || Clock::now() >= caller.until;
  return is_over ? Admission::refused : Admission::pending;
} catch (const std::exception&) {
  return Admission::refused;
}

}  // namespace trainrt::program
