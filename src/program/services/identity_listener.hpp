#pragma once
#include <memory>
#include <string>

#include "program/services/tcp_server.hpp"

namespace trainrt::program {

/// Listens on a port of all addresses of this node, so that other nodes can find out which address reaches this node. The
/// nonce proves that the right process answers: a process of another node may listen on the same address and port. A caller
/// that sends the first half of the nonce gets the second half; every other caller gets nothing. Listens while it lives.
class IdentityListener {
 public:
  IdentityListener();  ///< throws Error if it cannot listen

  int port() const { return port_; }
  const std::string& nonce() const { return nonce_; }  ///< 32 random characters

 private:
  int port_ = 0;
  std::string nonce_;
  std::unique_ptr<TcpServer> server_;
};

/// Returns the half of the nonce that a caller sends to an IdentityListener. Pure.
std::string_view challenge_of(std::string_view nonce);

/// Returns the half of the nonce that the caller gets back. Pure.
std::string_view response_of(std::string_view nonce);

}  // namespace trainrt::program
