#pragma once
#include "core/descriptor.hpp"

namespace trainrt::program {

/// Where a port can be reached from.
enum class Reach { all_addresses, this_node };

/// A TCP port of this node that is nobody else's while this lives: bound on all addresses, or on
/// 127.0.0.1, with SO_REUSEADDR, and silent.
/// The kernel gives it to no process that asks for any port, or connects; one that names it and sets SO_REUSEADDR too, as
/// torch's store, JAX and TensorFlow do, listens on it. Programs that are started do not inherit it.
class ReservedPort {
 public:
  explicit ReservedPort(Reach reach = Reach::all_addresses);  ///< throws Error if there is none
  int number() const { return number_; }
  /// Listens from now on, before anybody serves who connects: they wait. Throws Error if that cannot be.
  void listen() const;
  /// The socket, for who serves it. The port is its own then.
  Descriptor take() { return std::move(socket_); }

 private:
  Descriptor socket_;
  int number_ = 0;
};

}  // namespace trainrt::program
