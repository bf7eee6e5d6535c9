#include "tune/trials/trial_process.hpp"

#include <fcntl.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <system_error>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/files/guarded_tree.hpp"
#include "core/files/shortage.hpp"
#include "core/process/spawn.hpp"
#include "io/files/file.hpp"

namespace trainrt::tune {

TrialProcess::TrialProcess(const std::vector<std::string>& command, const std::pair<std::string, std::string>& variable,
                           const std::string& output) {
  const io::Descriptor file(open_guarded(output, O_WRONLY | O_CREAT | O_APPEND));
  if (file.get() < 0) throw Error(fmt::format("cannot open '{}': {}", output, reason_with_shortage(output, errno)));
  auto variables = inherited_environment();
  variables[variable.first] = variable.second;
  pid_ = spawn({.command = command,
                .environment = std::move(variables),
                .output = file.get(),
                .error = file.get(),
                .closes_other_files = false,
                .default_signals = {SIGUSR1},  // stops the trial, even if this process ignores the signal
                .signal_at_parent_end = SIGUSR1});
  if (pid_ < 0) throw Error(fmt::format("cannot start a trial: {}", std::generic_category().message(errno)));
}

TrialProcess::~TrialProcess() {
  if (pid_ < 0) return;
  signal(SIGKILL);
  wait();
}

int TrialProcess::wait() {
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  return shell_exit_code(status);
}

void TrialProcess::signal(int number) {
  const pid_t pid = pid_;
  if (pid > 0) kill(-pid, number);
}

}  // namespace trainrt::tune
