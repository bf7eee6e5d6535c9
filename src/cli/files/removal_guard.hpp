#pragma once
#include <string>
#include <vector>

#include <sys/types.h>

#include "core/descriptor.hpp"

namespace trainrt::cli {

/// Removes files if this process is killed by a signal that it cannot handle. While an object exists, a shell in its
/// own process group waits for the end of this process. The files remain if the shell is killed together with this
/// process (all processes of a job, or the node), or if no shell could be started.
class RemovalGuard {
 public:
  /// Starts the shell that will remove the files `paths`.
  explicit RemovalGuard(const std::vector<std::string>& paths);
  ~RemovalGuard();  ///< ends the shell; removes no files
  RemovalGuard(const RemovalGuard&) = delete;
  RemovalGuard& operator=(const RemovalGuard&) = delete;

 private:
  pid_t shell_ = -1;
  Descriptor lifeline_;  ///< write end of the shell's input, which the kernel closes when this process ends
};

}  // namespace trainrt::cli
