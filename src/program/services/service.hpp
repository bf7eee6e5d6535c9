#pragma once
#include <sys/types.h>

namespace trainrt::program {

/// A framework-specific service that the runtime provides to the program of a rank, in a thread of its own. It is created
/// before the program starts and destroyed after the program has ended. The destructor stops the thread.
class Service {
 public:
  Service() = default;
  virtual ~Service() = default;
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  /// Returns the number of the socket that the program inherits, or -1. The service owns the socket.
  virtual int inherited() const { return -1; }
  /// Called when the program has its own copy of the socket. `group`: process group of the program.
  virtual void program_has_started(pid_t group) { static_cast<void>(group); }
};

}  // namespace trainrt::program
