#pragma once
#include <functional>
#include <thread>

#include "frameworks/program/descriptor.hpp"
#include "frameworks/program/services/peer.hpp"

namespace trainrt::program {

/// Becomes readable, and stays so.
class EndSignal {
 public:
  EndSignal();  ///< throws Error if the kernel has none
  void raise() const;
  int number() const { return event_.number(); }

 private:
  Descriptor event_;
};

/// Takes connections in a thread, one after the other, and hands each to `serve`, which may keep it. An exception there
/// ends that conversation only. The destructor ends the thread, whatever it waits for.
class TcpServer {
 public:
  /// `listener`: a socket that listens.
  TcpServer(Descriptor listener, std::function<void(Peer)> serve);
  ~TcpServer();
  TcpServer(const TcpServer&) = delete;
  TcpServer& operator=(const TcpServer&) = delete;

 private:
  void take_connections() const;

  Descriptor listener_;
  std::function<void(Peer)> serve_;
  EndSignal end_;
  std::thread thread_;  // last: it uses the rest
};

}  // namespace trainrt::program
