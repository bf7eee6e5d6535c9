#include "core/process/line_program.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <trainrt/error.hpp>

namespace trainrt {

namespace {

void close_it(int& fd) {
  if (fd >= 0) close(fd);
  fd = -1;
}

/// The pipes between a program and this process, all closed on exec.
struct Pipes {
  std::array<int, 2> input{-1, -1}, output{-1, -1}, errors{-1, -1};
  ~Pipes() {
    for (auto* pipe : {&input, &output, &errors})
      for (auto& end : *pipe) close_it(end);
  }
  bool open() {
    return pipe2(input.data(), O_CLOEXEC) == 0 && pipe2(output.data(), O_CLOEXEC) == 0 &&
           pipe2(errors.data(), O_CLOEXEC) == 0;
  }
};

/// The error number if it cannot be started.
int spawn_shell(pid_t& pid, const std::string& command, const Variables& environment, const Pipes& pipes) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, pipes.input[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files, pipes.output[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, pipes.errors[1], STDERR_FILENO);
  posix_spawn_file_actions_addclosefrom_np(&files, 3);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  std::array words{const_cast<char*>("/bin/sh"), const_cast<char*>("-c"), const_cast<char*>(command.c_str()),
                   static_cast<char*>(nullptr)};
  std::vector<std::string> variables;
  for (const auto& [name, value] : environment) variables.push_back(name + "=" + value);
  std::vector<char*> pointers;
  for (auto& variable : variables) pointers.push_back(variable.data());
  pointers.push_back(nullptr);
  const int error = posix_spawn(&pid, words[0], &files, &attributes, words.data(), pointers.data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  return error;
}

/// Closes it at the end of what comes.
void read_some(int& fd, std::string& text) {
  std::array<char, 16384> buffer{};
  const auto count = read(fd, buffer.data(), buffer.size());
  if (count > 0) text.append(buffer.data(), static_cast<std::size_t>(count));
  if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) close_it(fd);
}

}  // namespace

LineProgram::LineProgram(const std::string& command, const Variables& environment) {
  Pipes pipes;
  const int error = pipes.open() ? spawn_shell(pid_, command, environment, pipes) : errno;
  if (error != 0) throw Error(fmt::format("no process for '{}': {}", command, strerror(error)));
  input_ = std::exchange(pipes.input[1], -1);
  taken_from_ = std::exchange(pipes.input[0], -1);
  output_ = std::exchange(pipes.output[0], -1);
  errors_ = std::exchange(pipes.errors[0], -1);
  for (const int fd : {input_, output_, errors_}) fcntl(fd, F_SETFL, O_NONBLOCK);
}

LineProgram::~LineProgram() {
  if (!exit_code_) kill(-pid_, SIGKILL);
  for (int looks = 0; !exit_code() && looks < 500; ++looks) usleep(2000);  // one that hangs in the kernel is left behind
  for (auto* fd : {&input_, &taken_from_, &output_, &errors_}) close_it(*fd);
}

std::size_t LineProgram::unread() const {
  int in_pipe = 0;
  ioctl(taken_from_, FIONREAD, &in_pipe);
  return unsent_.size() + static_cast<std::size_t>(in_pipe);
}

void LineProgram::write_unsent() {
  const auto count = write(input_, unsent_.data(), unsent_.size());
  if (count > 0) unsent_.erase(0, static_cast<std::size_t>(count));
}

LineProgram::Heard LineProgram::exchange(std::chrono::milliseconds limit, int wake) {
  Heard heard;
  if (unsent_.empty() && input_ends_) close_it(input_);
  std::array<pollfd, 4> ready{
      {{unsent_.empty() ? -1 : input_, POLLOUT, 0}, {output_, POLLIN, 0}, {errors_, POLLIN, 0}, {wake, POLLIN, 0}}};
  if (poll(ready.data(), ready.size(), static_cast<int>(limit.count())) <= 0) return heard;
  if (ready[0].revents != 0) write_unsent();
  if (ready[1].revents != 0) read_some(output_, heard.output);
  if (ready[2].revents != 0) read_some(errors_, heard.errors);
  return heard;
}

std::optional<int> LineProgram::exit_code() {
  siginfo_t ended{};
  const auto pid = static_cast<id_t>(pid_);
  if (exit_code_ || waitid(P_PID, pid, &ended, WEXITED | WNOHANG | WNOWAIT) != 0 || ended.si_pid == 0) return exit_code_;
  kill(-pid_, SIGKILL);  // what it has left behind, while the number of the group is still its own
  waitpid(pid_, nullptr, 0);
  return exit_code_ = ended.si_code == CLD_EXITED ? ended.si_status : 128 + ended.si_status;
}

}  // namespace trainrt
