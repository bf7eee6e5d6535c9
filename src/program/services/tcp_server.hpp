#pragma once
#include <chrono>
#include <cstddef>
#include <functional>
#include <list>
#include <string>
#include <string_view>
#include <thread>

#include "core/descriptor.hpp"
#include "program/services/admission.hpp"
#include "program/services/peer.hpp"

namespace trainrt::program {

/// A file descriptor that becomes readable when raise() is called, and then stays readable. Threads that wait for other
/// descriptors poll it to notice that they must end.
class EndSignal {
 public:
  EndSignal();  ///< throws Error if the kernel cannot create the descriptor
  void raise() const;
  int get() const { return event_.get(); }

 private:
  Descriptor event_;
};

/// Returns the default value of CallerPolicy::max_pending for a service to which `ranks` ranks may connect at the same
/// time. Pure function.
std::size_t max_pending_for(int ranks);

/// Defines which callers a TcpServer admits, and how it serves them. The server's thread calls the functions. If a
/// function throws, the server closes the connection of the caller and continues.
struct CallerPolicy {
  /// Returns whether the server accepts connections from `address`.
  std::function<bool(const std::string& address)> is_of_this_run;
  /// Returns `granted` if `received` contains the secret. `received` contains all bytes that the caller has sent so
  /// far; an earlier call has examined the first `examined` of them. The function may send `caller` a few bytes that
  /// reveal no secret, but must not read from `caller`.
  std::function<Admission(const Peer& caller, std::string_view received, std::size_t examined)> admit;
  /// Serves an admitted caller, and may keep the connection. The first bytes that can be read from `caller` are the
  /// bytes that were examined for admission.
  std::function<void(Peer caller)> serve;
  /// Maximum number of pending callers; each uses one open file of this process.
  std::size_t max_pending;
};

/// Accepts connections in a separate thread and serves, one after the other, the callers that send the secret.
///
/// Callers without the secret cannot delay other callers. The server waits for all pending callers at the same time. It
/// has at most CallerPolicy::max_pending pending callers and closes the oldest when another one connects. It closes a
/// caller that does not send the secret within `max_pending_s` and `max_greeting_bytes`. The destructor stops the
/// thread at once.
class TcpServer {
 public:
  static constexpr std::size_t max_greeting_bytes = 8192;
  static constexpr double max_pending_s = 20;

  /// `listener`: a listening socket, on which the server accepts connections.
  TcpServer(Descriptor listener, CallerPolicy policy);
  ~TcpServer();
  TcpServer(const TcpServer&) = delete;
  TcpServer& operator=(const TcpServer&) = delete;

 private:
  using Clock = std::chrono::steady_clock;

  struct Caller {
    Peer peer;
    Clock::time_point until;
    std::string received = {};
  };

  void run();
  bool wait();
  void accept_callers();
  void examine_callers();
  Admission examine(Caller& caller) const;

  Descriptor listener_;
  CallerPolicy policy_;
  EndSignal end_;
  std::list<Caller> pending_;  ///< callers that were not admitted yet, oldest first
  std::thread thread_;         // declared last because it uses the other members
};

}  // namespace trainrt::program
