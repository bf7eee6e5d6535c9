#include "io/striping.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <optional>
#include <system_error>
#include <thread>
#include <vector>

#include "io/file.hpp"

extern char** environ;

namespace trainrt::io {

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t reason_bytes = 1000;  // so much of what the program says is enough
constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;
constexpr std::uint64_t gibibyte = std::uint64_t{1} << 30;

std::string reason_of(int error_number) { return std::generic_category().message(error_number); }

/// A program that runs with nothing as its input and its output and errors in a pipe.
struct Child {
  int error = 0;  ///< why it did not start
  pid_t pid = -1;
  Descriptor output = Descriptor();
};

Child start(const std::vector<std::string>& command) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return {.error = errno};
  Descriptor read_end(ends[0]);
  const Descriptor write_end(ends[1]);
  ::posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, write_end.get(), 1);
  ::posix_spawn_file_actions_adddup2(&actions, write_end.get(), 2);
  std::vector<char*> arguments;
  for (const auto& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  pid_t pid = -1;
  const int error = ::posix_spawnp(&pid, arguments[0], &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  return {.error = error, .pid = pid, .output = std::move(read_end)};
}

/// What it says until it closes its output or the time is over.
std::string listen(const Descriptor& output, Clock::time_point until) {
  std::string said;
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
    pollfd waiting{.fd = output.get(), .events = POLLIN};
    const int ready = left <= 0 ? 0 : ::poll(&waiting, 1, static_cast<int>(left));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return said;
    std::array<char, 512> part{};
    const auto count = ::read(output.get(), part.data(), part.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return said;
    said.append(part.data(), static_cast<std::size_t>(count));
    said.resize(std::min(said.size(), reason_bytes));
  }
}

/// Its wait status; nothing where it did not end in time.
std::optional<int> wait_until(pid_t pid, Clock::time_point until) {
  for (;;) {
    int status = 0;
    const auto ended = ::waitpid(pid, &status, WNOHANG);
    if (ended == pid) return status;
    if (ended < 0 && errno != EINTR) return 0;  // something else has reaped it: how it ended is not known
    if (Clock::now() >= until) return std::nullopt;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

std::string in_one_line(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

std::string how_it_ended(int status, const std::string& said) {
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return "";
  const auto how = WIFEXITED(status) ? "exit code " + std::to_string(WEXITSTATUS(status))
                                     : "killed by signal " + std::to_string(WTERMSIG(status));
  return "lfs setstripe: " + how + (said.empty() ? "" : ": " + in_one_line(said));
}

}  // namespace

Striping striping_for(std::uint64_t file_bytes, int files) {
  if (file_bytes < gibibyte) return {};
  const int targets = file_bytes < 64 * gibibyte ? 4 : 8;  // of all files together
  // Long files in larger pieces: fewer locks, and a request to a server usually carries 4 MiB.
  return {.count = std::max(1, targets / std::max(1, files)), .stripe_bytes = 4 * mebibyte};
}

std::string set_striping(const std::string& directory, const Striping& striping, double limit_seconds) {
  const auto until =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(limit_seconds));
  const auto child = start(
      {"lfs", "setstripe", "-c", std::to_string(striping.count), "-S", std::to_string(striping.stripe_bytes), directory});
  if (child.error != 0) return "the program 'lfs' cannot be started: " + reason_of(child.error);
  const auto said = listen(child.output, until);
  if (const auto status = wait_until(child.pid, until)) return how_it_ended(*status, said);
  ::kill(child.pid, SIGKILL);
  // It may hang in the file system, where no signal reaches it: then it is left behind.
  wait_until(child.pid, Clock::now() + std::chrono::seconds(1));
  return fmt::format("lfs setstripe did not end within {} s", limit_seconds);
}

}  // namespace trainrt::io
