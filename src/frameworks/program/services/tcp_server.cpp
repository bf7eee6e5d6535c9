#include "frameworks/program/services/tcp_server.hpp"

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <exception>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <trainrt/error.hpp>

#include "core/thread.hpp"

namespace trainrt::program {

EndSignal::EndSignal() : event_(eventfd(0, EFD_CLOEXEC)) {
  if (!event_) throw Error(fmt::format("no event can be had from the kernel: {}", std::strerror(errno)));
}

void EndSignal::raise() const {
  constexpr std::uint64_t one = 1;
  static_cast<void>(!write(event_.number(), &one, sizeof one));
}

TcpServer::TcpServer(Descriptor listener, std::function<void(Peer)> serve)
    : listener_(std::move(listener)), serve_(std::move(serve)) {
  fcntl(listener_.number(), F_SETFL, O_NONBLOCK);  // who connects may be gone before it is accepted
  thread_ = thread_without_signals([this] { take_connections(); });
}

TcpServer::~TcpServer() {
  end_.raise();
  thread_.join();
}

void TcpServer::take_connections() const {
  constexpr int pause_ms = 100;  // if the process has too many files open
  std::array<pollfd, 2> waited{pollfd{listener_.number(), POLLIN, 0}, pollfd{end_.number(), POLLIN, 0}};
  while (poll(waited.data(), waited.size(), -1) >= 0 || errno == EINTR) {
    if (waited[1].revents != 0) return;
    Descriptor caller(accept4(listener_.number(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!caller) {
      if (errno == EMFILE || errno == ENFILE) poll(&waited[1], 1, pause_ms);
      continue;
    }
    try {
      serve_(Peer(std::move(caller), end_.number()));
    } catch (const std::exception&) {
      // nobody of this run, or one that is gone: its own end of the connection tells it
    }
  }
}

}  // namespace trainrt::program
