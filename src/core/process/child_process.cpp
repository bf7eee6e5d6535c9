#include "core/process/child_process.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/host.hpp"

namespace trainrt {

namespace {

constexpr int cannot_start = 127;

ChildOutput not_started(int error_number) { return {cannot_start, std::generic_category().message(error_number)}; }

/// Reading end and writing end, both closed on exec.
struct Pipe {
  std::array<int, 2> ends{-1, -1};
  Pipe() {
    if (pipe2(ends.data(), O_CLOEXEC) != 0) ends = {-1, -1};
  }
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void close_end(int which) {
    auto& end = ends[static_cast<std::size_t>(which)];
    if (end >= 0) close(end);
    end = -1;
  }
};

/// Starts it in a process group of its own; the error number if that fails.
int spawn(pid_t& pid, const std::vector<std::string>& command, int output, ChildErrors errors) {
  std::vector<char*> words;
  for (const auto& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
  if (errors == ChildErrors::with_output)
    posix_spawn_file_actions_adddup2(&files, output, STDERR_FILENO);
  else
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addclosefrom_np(&files, 3);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  const int error = posix_spawnp(&pid, words[0], &files, &attributes, words.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  return error;
}

/// True at the end of the output; false if time is over.
bool read_all(int fd, std::string& text, double deadline, const std::atomic<bool>& cancelled) {
  constexpr std::size_t most = 1 << 20;
  std::array<char, 4096> buffer{};
  while (!cancelled && monotonic_seconds() < deadline) {
    pollfd ready{.fd = fd, .events = POLLIN, .revents = 0};
    if (poll(&ready, 1, 50) <= 0) continue;
    const auto count = read(fd, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return true;
    if (text.size() < most) text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return false;
}

/// nullopt if the child does not end in time.
std::optional<int> wait_for(pid_t pid, double deadline, const std::atomic<bool>& cancelled) {
  int status = 0;
  for (;;) {
    const auto ended = waitpid(pid, &status, WNOHANG);
    if (ended == pid) return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (ended < 0 && errno != EINTR) return std::nullopt;
    if (cancelled || monotonic_seconds() > deadline) return std::nullopt;
    usleep(2000);
  }
}

const std::atomic<bool> never = false;

void end_child(pid_t pid) {
  kill(-pid, SIGKILL);
  wait_for(pid, monotonic_seconds() + 1, never);
}

}  // namespace

std::optional<ChildOutput> run_child(const std::vector<std::string>& command, double limit_seconds,
                                     const std::atomic<bool>& cancelled, ChildErrors errors) {
  const auto deadline = monotonic_seconds() + limit_seconds;
  Pipe output;
  if (output.ends[0] < 0) return not_started(errno);
  pid_t pid = -1;
  if (const int error = spawn(pid, command, output.ends[1], errors); error != 0) return not_started(error);
  output.close_end(1);
  ChildOutput result;
  std::optional<int> code;
  if (read_all(output.ends[0], result.text, deadline, cancelled)) code = wait_for(pid, deadline, cancelled);
  if (!code) {
    end_child(pid);
    return std::nullopt;
  }
  result.exit_code = *code;
  return result;
}

std::optional<ChildOutput> run_child(const std::vector<std::string>& command, double limit_seconds, ChildErrors errors) {
  return run_child(command, limit_seconds, never, errors);
}

}  // namespace trainrt
