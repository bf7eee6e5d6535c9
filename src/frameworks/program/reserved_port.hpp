#pragma once
#include "frameworks/program/descriptor.hpp"

namespace trainrt::program {

/// A TCP port of this node that is nobody else's while this lives: bound on all addresses, with SO_REUSEADDR, and silent.
/// The kernel gives it to no process that asks for any port, or connects; one that names it and sets SO_REUSEADDR too, as
/// torch's store, JAX and TensorFlow do, listens on it. Programs that are started do not inherit it.
class ReservedPort {
 public:
  ReservedPort();  ///< throws Error if there is none
  int number() const { return number_; }

 private:
  Descriptor socket_;
  int number_ = 0;
};

}  // namespace trainrt::program
