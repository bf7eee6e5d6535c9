#pragma once
#include "core/descriptor.hpp"

namespace trainrt::program {

/// Addresses of this node that a port is bound on.
enum class ListenScope { all_addresses, this_node };

/// A TCP port that this process reserves while the object lives, without answering on it. It is bound with SO_REUSEADDR on
/// all addresses or on 127.0.0.1. The kernel gives it to no process that asks for any free port. A process that asks for
/// this port by number and sets SO_REUSEADDR (torch's store, JAX and TensorFlow do) can listen on it. Child processes do
/// not inherit the socket.
class ReservedPort {
 public:
  explicit ReservedPort(ListenScope scope = ListenScope::all_addresses);  ///< throws Error if no port is free
  int number() const { return number_; }
  /// Starts to listen: connections wait until a service accepts them. Throws Error on failure.
  void listen() const;
  /// Transfers the socket, and with it the port, to the service that uses it.
  Descriptor take() { return std::move(socket_); }

 private:
  Descriptor socket_;
  int number_ = 0;
};

}  // namespace trainrt::program
