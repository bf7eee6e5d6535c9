#pragma once
#include <sys/types.h>

namespace trainrt::program {

/// What the runtime serves to the program of a rank for a framework, in a thread of its own: from before the program starts
/// until after it has ended. The destructor ends it, whatever it waits for.
class Service {
 public:
  Service() = default;
  virtual ~Service() = default;
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  /// The socket that the program inherits, under this number; -1: none. It stays the service's.
  virtual int inherited() const { return -1; }
  /// The program has its own copy of the socket now. `group`: its process group.
  virtual void program_has_started(pid_t group) { static_cast<void>(group); }
};

}  // namespace trainrt::program
