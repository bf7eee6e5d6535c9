#include "core/process/child_process.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>

#include <poll.h>
#include <sys/wait.h>

#include "core/host.hpp"
#include "core/process/spawn.hpp"

namespace trainrt {

namespace {

constexpr int cannot_start = 127;
const std::atomic<bool> never_cancelled = false;

/// Reads the output of a child process from `fd` to its end; keeps about the first 1 MiB in `text`. Returns false if the
/// deadline passes or `cancelled` becomes true before the end.
bool read_all(int fd, std::string& text, double deadline, const std::atomic<bool>& cancelled) {
  constexpr std::size_t max_bytes = 1 << 20;
  std::array<char, 4096> buffer{};
  while (!cancelled && monotonic_seconds() < deadline) {
    pollfd ready{.fd = fd, .events = POLLIN, .revents = 0};
    if (poll(&ready, 1, 50) <= 0) continue;
    const auto count = read(fd, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return true;
    if (text.size() < max_bytes) text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return false;
}

/// Waits for the end of child process `pid` and returns its exit code; nullopt if the child does not end before the
/// deadline or `cancelled` becomes true.
std::optional<int> wait_for(pid_t pid, double deadline, const std::atomic<bool>& cancelled) {
  int status = 0;
  for (;;) {
    const auto ended = waitpid(pid, &status, WNOHANG);
    if (ended == pid) return shell_exit_code(status);
    if (ended < 0 && errno != EINTR) return std::nullopt;
    if (cancelled || monotonic_seconds() > deadline) return std::nullopt;
    usleep(2000);
  }
}

}  // namespace

std::optional<ChildOutput> run_child(const std::vector<std::string>& command, double limit_seconds,
                                     const std::atomic<bool>& cancelled, ChildErrors errors) {
  const auto deadline = monotonic_seconds() + limit_seconds;
  Pipe output;
  const int written = output.write_end.get();
  const pid_t pid = !output ? -1
                            : spawn({.command = command,
                                     .output = written,
                                     .error = errors == ChildErrors::with_output ? written : null_device});
  if (pid < 0) return ChildOutput{cannot_start, std::generic_category().message(errno)};
  output.write_end.reset();
  ChildOutput result;
  std::optional<int> code;
  if (read_all(output.read_end.get(), result.text, deadline, cancelled)) code = wait_for(pid, deadline, cancelled);
  if (!code) {
    kill(-pid, SIGKILL);
    wait_for(pid, monotonic_seconds() + 1, never_cancelled);
    return std::nullopt;
  }
  result.exit_code = *code;
  return result;
}

std::optional<ChildOutput> run_child(const std::vector<std::string>& command, double limit_seconds, ChildErrors errors) {
  return run_child(command, limit_seconds, never_cancelled, errors);
}

}  // namespace trainrt
