#pragma once
#include <memory>
#include <string>

#include "program/services/tcp_server.hpp"

namespace trainrt::program {

/// Listens on a port of all addresses of this node while it lives, so that the other nodes learn which address reaches it:
/// another process may listen on the same address and port of another node. A caller that sends the first half of the nonce
/// gets the second half; any other caller gets nothing.
class Beacon {
 public:
  Beacon();  ///< throws Error if it cannot listen

  int port() const { return port_; }
  const std::string& nonce() const { return nonce_; }  ///< made up, of 32 characters

 private:
  int port_ = 0;
  std::string nonce_;
  std::unique_ptr<TcpServer> server_;
};

/// The half of a nonce that a caller sends to a Beacon, and the half that it gets. Pure.
std::string_view question_of(std::string_view nonce);
std::string_view answer_of(std::string_view nonce);

}  // namespace trainrt::program
