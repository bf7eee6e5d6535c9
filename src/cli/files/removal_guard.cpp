#include "cli/files/removal_guard.hpp"

#include <csignal>

#include <sys/wait.h>
#include <unistd.h>

#include "core/process/spawn.hpp"

namespace trainrt::cli {

RemovalGuard::RemovalGuard(const std::vector<std::string>& paths) {
  Pipe pipe;
  if (!pipe) return;
  std::vector<std::string> command = {"/bin/sh", "-c", R"(read -r end; rm -f -- "$@")", "sh"};
  command.insert(command.end(), paths.begin(), paths.end());
  shell_ = spawn({.command = command, .input = pipe.read_end.get(), .output = null_device, .error = null_device});
  lifeline_ = std::move(pipe.write_end);
}

RemovalGuard::~RemovalGuard() {
  if (shell_ < 0) return;
  kill(shell_, SIGKILL);
  waitpid(shell_, nullptr, 0);
}

}  // namespace trainrt::cli
