#pragma once
#include <string>
#include <thread>

#include "frameworks/program/descriptor.hpp"

namespace trainrt::program {

/// Listens on a port of all addresses of this node while it lives, and sends a nonce to everyone who connects, so that
/// they know whom they have reached: another process may listen on the same address and port of another node.
class Beacon {
 public:
  Beacon();  ///< throws Error if it cannot listen
  ~Beacon();
  Beacon(const Beacon&) = delete;
  Beacon& operator=(const Beacon&) = delete;

  int port() const { return port_; }
  const std::string& nonce() const { return nonce_; }  ///< made up, of 32 characters

 private:
  void answer() const;

  Descriptor socket_;
  Descriptor end_;  ///< readable once the thread has to end
  int port_ = 0;
  std::string nonce_;
  std::thread thread_;
};

}  // namespace trainrt::program
