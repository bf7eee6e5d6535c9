#pragma once
#include "core/descriptor.hpp"

namespace trainrt::program {

/// The addresses of this node on which a port is bound: all addresses, or only 127.0.0.1.
enum class ListenScope { all_addresses, this_node };

/// Reserves a TCP port for the program of a rank, as long as the object exists. The socket of the object is bound with
/// SO_REUSEADDR, but does not listen before listen() is called. The kernel does not give the port to a process that
/// asks for any free port. A process that asks for this port number and sets SO_REUSEADDR can listen on it; torch's
/// store, JAX and TensorFlow do so. Child processes do not inherit the socket.
class ReservedPort {
 public:
  explicit ReservedPort(ListenScope scope = ListenScope::all_addresses);  ///< throws Error if no port is free
  int number() const { return number_; }
  /// Starts to listen on the port. The kernel then queues connections until a service accepts them. Throws Error on
  /// failure.
  void listen() const;
  /// Returns the socket, which reserves the port. The caller owns the socket, and passes it to the service that uses the
  /// port.
  Descriptor take() { return std::move(socket_); }

 private:
  Descriptor socket_;
  int number_ = 0;
};

}  // namespace trainrt::program
