#pragma once
#include <string>
#include <vector>

#include <sys/types.h>

namespace trainrt::cli {

/// Removes files if this process dies by a signal that nothing can catch. While the object lives a shell in a session of
/// its own waits for the end of this process; it dies with it only if all processes of the job are killed at once, or the
/// node is. If no shell can be started, nothing is removed.
class RemovalGuard {
 public:
  explicit RemovalGuard(const std::vector<std::string>& paths);
  ~RemovalGuard();  ///< removes nothing
  RemovalGuard(const RemovalGuard&) = delete;
  RemovalGuard& operator=(const RemovalGuard&) = delete;

 private:
  pid_t shell_ = -1;
  int lifeline_ = -1;  ///< a pipe that the kernel closes when this process ends
};

}  // namespace trainrt::cli
