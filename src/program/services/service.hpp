#pragma once
#include <sys/types.h>

namespace trainrt::program {

/// A service for a framework, such as XGBoost's tracker, that the runtime runs in a separate thread while a rank's
/// program runs. It is created before the program starts and destroyed after the program has ended. The destructor
/// stops the thread.
class Service {
 public:
  Service() = default;
  virtual ~Service() = default;
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  /// Returns the file descriptor of the socket that the program inherits, or -1 if there is no such socket. The service
  /// owns the socket.
  virtual int inherited() const { return -1; }
  /// Must be called after the program has started and inherited the socket. `group`: process group of the program.
  virtual void program_has_started(pid_t group) { static_cast<void>(group); }
};

}  // namespace trainrt::program
