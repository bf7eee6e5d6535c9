#include "core/process/spawn.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <sstream>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "core/process/ignored_signal.hpp"
#include "core/process/signals_blocked.hpp"

namespace trainrt {

namespace {

constexpr int cannot_exec = 127;

/// The arguments of execve(2), the parent's process id, and the descriptor for reporting a failure of execve(2) to the
/// parent.
struct Execution {
  const char* path;
  char* const* words;
  char* const* environment;
  pid_t parent;
  int failure;  ///< write end of a pipe: the child writes errno to it if it cannot run the program
};

// The functions from here to become() run in the child of vfork(), in the memory of its parent. They make only
// async-signal-safe calls and allocate no memory.

/// Makes `file`, a descriptor or null_device, the standard stream `stream`. Returns false, with errno, on failure.
bool set_stream(int stream, int file) {
  const int source = file == null_device ? open("/dev/null", O_RDWR | O_CLOEXEC) : file;
  if (source < 0) return false;
  if (source != stream) return dup2(source, stream) == stream;
  fcntl(stream, F_SETFD, 0);  // fails for a stream that is closed in this process, and stays closed in the program
  return true;
}

/// Sends errno to the parent process through the pipe for failures, and exits.
[[noreturn]] void fail_in_child(const Execution& execution) {
  const int error = errno;
  const auto written = write(execution.failure, &error, sizeof error);
  _exit(written < 0 ? error : cannot_exec);
}

/// Marks all open files except the standard streams to be closed on exec.
void close_files_at_exec() {
#if defined(SYS_close_range) && defined(CLOSE_RANGE_CLOEXEC)
  if (syscall(SYS_close_range, 3U, ~0U, CLOSE_RANGE_CLOEXEC) == 0) return;
#endif
  constexpr int max_files = 65536;  // for Linux before 5.11, without CLOSE_RANGE_CLOEXEC
  for (int number = 3; number < max_files; ++number) fcntl(number, F_SETFD, FD_CLOEXEC);
}

void set_signals(const SpawnOptions& options) {
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  for (int number = 1; number < NSIG; ++number)
    if (!is_signal_ignored(number)) sigaction(number, &action, nullptr);
  for (const int number : options.default_signals) sigaction(number, &action, nullptr);
  action.sa_handler = SIG_IGN;
  for (const int number : options.ignored_signals) sigaction(number, &action, nullptr);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

[[noreturn]] void become(const SpawnOptions& options, const Execution& execution) {
  setpgid(0, 0);
  if (options.signal_at_parent_end != 0) {
    prctl(PR_SET_PDEATHSIG, options.signal_at_parent_end);
    if (getppid() != execution.parent) _exit(cannot_exec);  // the parent ended before the call of prctl(2)
  }
  if (!set_stream(STDIN_FILENO, options.input) || !set_stream(STDOUT_FILENO, options.output) ||
      !set_stream(STDERR_FILENO, options.error))
    fail_in_child(execution);
  if (options.closes_other_files) close_files_at_exec();
  for (const int file : options.kept_files) fcntl(file, F_SETFD, 0);
  set_signals(options);
  execve(execution.path, execution.words, execution.environment);
  fail_in_child(execution);
}

/// Returns pointers to `texts`, with a null pointer at the end, for execve(2). The pointers are valid while `texts` is
/// unchanged.
std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const auto& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

bool is_executable_file(const std::filesystem::path& path) {
  std::error_code none;
  return std::filesystem::is_regular_file(path, none) && access(path.c_str(), X_OK) == 0;
}

}  // namespace

Pipe::Pipe() {
  std::array<int, 2> ends{-1, -1};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return;
  read_end = Descriptor(ends[0]);
  write_end = Descriptor(ends[1]);
}

pid_t spawn(const SpawnOptions& options) {
  const auto& name = options.executable.empty() ? options.command.front() : options.executable;
  const auto path = name.find('/') == std::string::npos ? find_executable(name) : name;
  if (path.empty()) {
    errno = ENOENT;
    return -1;
  }
  Pipe failure;
  if (!failure) return -1;
  std::vector<std::string> variables;
  if (options.environment)
    for (const auto& [variable, value] : *options.environment) variables.push_back(variable + "=" + value);
  const auto words = pointers_to(options.command), environment = pointers_to(variables);
  const Execution execution{path.c_str(), words.data(), options.environment ? environment.data() : environ, getpid(),
                            failure.write_end.get()};
  pid_t pid = -1;
  {
    const SignalsBlocked blocked;
    pid = vfork();  // not fork(), since pages that a network card writes to (RDMA) must not become copy-on-write
    if (pid == 0) become(options, execution);
  }
  if (pid < 0) return -1;
  failure.write_end.reset();
  int error = 0;
  ssize_t length = 0;
  do length = read(failure.read_end.get(), &error, sizeof error);
  while (length < 0 && errno == EINTR);
  if (length <= 0) return pid;
  waitpid(pid, nullptr, 0);
  errno = error;
  return -1;
}

std::vector<int> all_signals() {
  std::vector<int> numbers(NSIG - 1);
  std::iota(numbers.begin(), numbers.end(), 1);
  return numbers;
}

int shell_exit_code(int wait_status) {
  return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
}

std::string find_executable(const std::string& name) {
  if (name.find('/') != std::string::npos) return is_executable_file(name) ? name : "";
  const char* path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const auto file = std::filesystem::path(folder.empty() ? "." : folder) / name;
    if (is_executable_file(file)) return file.string();
  }
  return "";
}

}  // namespace trainrt
