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

/// A descriptor that becomes readable when raise() is called, and stays readable.
class EndSignal {
 public:
  EndSignal();  ///< throws Error if the kernel cannot create it
  void raise() const;
  int get() const { return event_.get(); }

 private:
  Descriptor event_;
};

/// Returns the default limit of pending callers for a service that `ranks` ranks may call at the same time. Pure.
std::size_t max_pending_for(int ranks);

/// Functions by which a TcpServer admits and serves its callers. The server's thread calls them. An exception closes the
/// connection of the caller, and the server continues.
struct CallerPolicy {
  /// Returns whether connections from this address are accepted.
  std::function<bool(const std::string& address)> is_of_this_run;
  /// Returns `granted` once `received`, all bytes that the caller has sent, contains the secret. The first `examined` bytes
  /// were passed to the previous call. May write to `caller` a few bytes that reveal nothing, but must not read.
  std::function<Admission(const Peer& caller, std::string_view received, std::size_t examined)> admit;
  /// Serves an admitted caller, and may keep the connection. The first bytes that it reads are those already received.
  std::function<void(Peer caller)> serve;
  /// Maximum number of pending callers; each uses one open file of this process.
  std::size_t max_pending;
};

/// Accepts connections in a thread of its own and serves, one after the other, the callers that present the secret.
///
/// Callers without the secret cannot delay the others. The server waits for all pending callers at the same time: at most
/// CallerPolicy::max_pending (the oldest is closed for a new one), each for `max_pending_s` and `max_greeting_bytes`. The
/// destructor stops the thread at once.
class TcpServer {
 public:
  static constexpr std::size_t max_greeting_bytes = 8192;
  static constexpr double max_pending_s = 20;

  /// `listener`: a listening socket.
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
  std::list<Caller> pending_;  ///< oldest first
  std::thread thread_;         // declared last because it uses the other members
};

}  // namespace trainrt::program
