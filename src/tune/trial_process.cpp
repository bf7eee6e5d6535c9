#include "tune/trial_process.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <system_error>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/files/guarded_tree.hpp"
#include "core/files/shortage.hpp"
#include "io/files/file.hpp"

extern char** environ;

namespace trainrt::tune {

namespace {

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (auto& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::vector<std::string> environment_with(const std::pair<std::string, std::string>& variable) {
  std::vector<std::string> all;
  for (char** each = environ; *each != nullptr; ++each)
    if (!std::string_view(*each).starts_with(variable.first + "=")) all.emplace_back(*each);
  all.push_back(variable.first + "=" + variable.second);
  return all;
}

/// In the child of a process with threads: only what a signal handler may do.
[[noreturn]] void become(char* const* command, char* const* environment, int output, pid_t parent) {
  constexpr int no_such_program = 127;
  prctl(PR_SET_PDEATHSIG, SIGUSR1);
  if (getppid() != parent) _exit(no_such_program);
  setpgid(0, 0);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGUSR1, SIG_DFL);  // by which the sweep stops a trial, also if the sweep itself ignores it
  const int input = ::open("/dev/null", O_RDONLY);
  if (input >= 0) dup2(input, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  execve(command[0], command, environment);
  _exit(no_such_program);
}

}  // namespace

TrialProcess::TrialProcess(const std::vector<std::string>& command, const std::pair<std::string, std::string>& variable,
                           const std::string& output) {
  auto words = command;
  auto variables = environment_with(variable);
  const auto argv = pointers_to(words), envp = pointers_to(variables);
  const io::Descriptor file(open_guarded(output, O_WRONLY | O_CREAT | O_APPEND));
  if (file.get() < 0) throw Error(fmt::format("'{}' cannot be opened: {}", output, reason_with_shortage(output, errno)));
  const auto parent = getpid();
  const auto child = fork();
  if (child == 0) become(argv.data(), envp.data(), file.get(), parent);
  if (child < 0) throw Error(fmt::format("a trial cannot be started: {}", std::generic_category().message(errno)));
  setpgid(child, child);
  pid_ = child;
}

TrialProcess::~TrialProcess() {
  if (pid_ < 0) return;
  signal(SIGKILL);
  wait();
}

int TrialProcess::wait() {
  constexpr int signalled = 128;
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  return WIFSIGNALED(status) ? signalled + WTERMSIG(status) : WEXITSTATUS(status);
}

void TrialProcess::signal(int number) {
  const pid_t pid = pid_;
  if (pid > 0) kill(-pid, number);
}

}  // namespace trainrt::tune
