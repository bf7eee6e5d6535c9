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

/// Becomes readable, and stays so.
class EndSignal {
 public:
  EndSignal();  ///< throws Error if the kernel has none
  void raise() const;
  int get() const { return event_.get(); }

 private:
  Descriptor event_;
};

/// The usual number of pending callers, for a service that so many ranks may call at the same time. Pure.
std::size_t max_pending_for(int ranks);

/// How a service treats its callers. All functions are called by the server's thread. An exception ends that connection
/// only.
struct Reception {
  /// Returns whether connections from this address are accepted at all.
  std::function<bool(const std::string& address)> is_of_this_run;
  /// Returns `granted` once `received`, all bytes that the caller has sent, contains the secret. The first `examined` of
  /// them were passed to the previous call. May write to `caller`, a few bytes that say nothing, but must not read.
  std::function<Admission(const Peer& caller, std::string_view received, std::size_t examined)> admit;
  /// Serves a caller that was admitted, and may keep it. The first bytes that it reads are those that were received.
  std::function<void(Peer caller)> serve;
  /// Number of callers that may be pending; each takes an open file of this process.
  std::size_t max_pending;
};

/// Accepts connections in a thread of its own and serves those that present the secret, one after the other.
///
/// A caller without the secret cannot delay the others: all callers that have not presented it yet are waited for at the
/// same time, at most Reception::max_pending of them (the oldest is closed for the newest), each for `max_pending_s` and
/// with `max_greeting_bytes`. The destructor ends the thread, whatever it waits for.
class TcpServer {
 public:
  static constexpr std::size_t max_greeting_bytes = 8192;
  static constexpr double max_pending_s = 20;

  /// `listener`: a socket that listens.
  TcpServer(Descriptor listener, Reception reception);
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
  Reception reception_;
  EndSignal end_;
  std::list<Caller> pending_;  ///< the oldest first
  std::thread thread_;         // last: it uses the rest
};

}  // namespace trainrt::program
