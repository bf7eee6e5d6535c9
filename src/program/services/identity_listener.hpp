#pragma once
#include <memory>
#include <string>

#include "program/services/tcp_server.hpp"

namespace trainrt::program {

/// Listens on one port of all addresses of this node. With the listener, other nodes find out which addresses reach
/// this node. A process of another node may listen on an equal address and port, so the caller must verify that this
/// process answers: to a caller that sends the first half of a nonce, the listener returns the second half. Other
/// callers get no answer. The listener runs until the object is destroyed.
class IdentityListener {
 public:
  IdentityListener();  ///< throws Error if no socket can listen

  int port() const { return port_; }
  const std::string& nonce() const { return nonce_; }  ///< nonce of 32 random characters

 private:
  int port_ = 0;
  std::string nonce_;
  std::unique_ptr<TcpServer> server_;
};

/// Returns the first half of the nonce, which a caller sends to an IdentityListener. Pure function.
std::string_view challenge_of(std::string_view nonce);

/// Returns the second half of the nonce, with which an IdentityListener answers. Pure function.
std::string_view response_of(std::string_view nonce);

}  // namespace trainrt::program
