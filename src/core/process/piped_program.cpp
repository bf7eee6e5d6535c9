#include "core/process/piped_program.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <trainrt/error.hpp>

namespace trainrt {

namespace {

/// Reads the next bytes from the descriptor `fd` and appends them to `text`. At the end of the stream or after an error,
/// closes the descriptor.
void read_some(Descriptor& fd, std::string& text) {
  std::array<char, 16384> buffer{};
  const auto count = read(fd.get(), buffer.data(), buffer.size());
  if (count > 0) text.append(buffer.data(), static_cast<std::size_t>(count));
  if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) fd.reset();
}

}  // namespace

PipedProgram::PipedProgram(const std::string& command, const Variables& environment) {
  if (input_ && output_ && errors_)
    pid_ = spawn({.command = {"/bin/sh", "-c", command},
                  .environment = environment,
                  .input = input_.read_end.get(),
                  .output = output_.write_end.get(),
                  .error = errors_.write_end.get()});
  if (pid_ < 0) throw Error(fmt::format("cannot start '{}': {}", command, strerror(errno)));
  output_.write_end.reset();
  errors_.write_end.reset();
  for (const auto* fd : {&input_.write_end, &output_.read_end, &errors_.read_end}) fcntl(fd->get(), F_SETFL, O_NONBLOCK);
}

PipedProgram::~PipedProgram() {
  if (!exit_code_) kill(-pid_, SIGKILL);
  // Waits for the end of the killed program, at most 1 s: the kernel may be unable to end it.
  for (int polls = 0; !exit_code() && polls < 500; ++polls) usleep(2000);
}

std::size_t PipedProgram::unread() const {
  int in_pipe = 0;
  ioctl(input_.read_end.get(), FIONREAD, &in_pipe);
  return unsent_.size() + static_cast<std::size_t>(in_pipe);
}

void PipedProgram::write_unsent() {
  const auto count = write(input_.write_end.get(), unsent_.data(), unsent_.size());
  if (count > 0) unsent_.erase(0, static_cast<std::size_t>(count));
}

PipedProgram::Received PipedProgram::exchange(std::chrono::milliseconds limit, int wake) {
  Received received;
  if (unsent_.empty() && input_ends_) input_.write_end.reset();
  std::array<pollfd, 4> ready{{{unsent_.empty() ? -1 : input_.write_end.get(), POLLOUT, 0},
                               {output_.read_end.get(), POLLIN, 0},
                               {errors_.read_end.get(), POLLIN, 0},
                               {wake, POLLIN, 0}}};
  if (poll(ready.data(), ready.size(), static_cast<int>(limit.count())) <= 0) return received;
  if (ready[0].revents != 0) write_unsent();
  if (ready[1].revents != 0) read_some(output_.read_end, received.output);
  if (ready[2].revents != 0) read_some(errors_.read_end, received.errors);
  return received;
}

std::optional<int> PipedProgram::exit_code() {
  siginfo_t ended{};
  const auto pid = static_cast<id_t>(pid_);
  if (exit_code_ || waitid(P_PID, pid, &ended, WEXITED | WNOHANG | WNOWAIT) != 0 || ended.si_pid == 0) return exit_code_;
  kill(-pid_, SIGKILL);  // kills the remaining processes of the group before the kernel can reuse the group's number
  waitpid(pid_, nullptr, 0);
  return exit_code_ = ended.si_code == CLD_EXITED ? ended.si_status : 128 + ended.si_status;
}

}  // namespace trainrt
