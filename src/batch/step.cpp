#include "batch/step.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <limits>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>
#include <trainrt/error.hpp>

#include "core/host.hpp"
#include "core/process/spawn.hpp"

namespace trainrt::batch {

namespace {

constexpr double not_due = std::numeric_limits<double>::infinity();
constexpr double end_by_itself_s = 3;
// Seconds between SIGTERM and SIGKILL of srun; srun itself waits about 12 s for its job step.
constexpr double after_term_s = 30;
constexpr double from_slurm_s = 0.5;
constexpr double again_s = 5;

/// Starts srun and returns its process id. Resets all signals of srun to their default actions, including those that this
/// process ignores. For `input` see run_step(). Throws Error if srun cannot be started.
pid_t spawn_step(const std::vector<std::string>& command, int stderr_fd, int input) {
  const pid_t pid = spawn({.command = command,
                           .input = input,
                           .error = stderr_fd,
                           .closes_other_files = false,
                           .default_signals = all_signals()});
  if (pid < 0) throw Error(command[0] + " cannot be started: " + std::strerror(errno));
  return pid;
}

void pass_on(const char* data, std::size_t size) {
  while (size > 0) {
    const auto written = write(STDERR_FILENO, data, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;  // the reader of standard error has closed the pipe; the job step continues
    data += written;
    size -= static_cast<std::size_t>(written);
  }
}

class RunningStep {
 public:
  RunningStep(const std::vector<std::string>& command, SignalQueue& signals, bool needs_whole_allocation, int input)
      : signals_(signals), needs_whole_allocation_(needs_whole_allocation) {
    Pipe errors;
    if (!errors) throw Error(std::string("cannot create a pipe: ") + std::strerror(errno));
    fcntl(errors.read_end.get(), F_SETFL, O_NONBLOCK);
    pid_ = spawn_step(command, errors.write_end.get(), input);
    pipe_ = std::move(errors.read_end);
  }
  RunningStep(const RunningStep&) = delete;
  RunningStep& operator=(const RunningStep&) = delete;

  StepEnd to_its_end() {
    while (!ended()) {
      wait();
      take_signals();
      read_lines();
      act();
    }
    const double until = monotonic_seconds() + 1;  // time limit for reading the last output of srun
    while (!at_end_ && monotonic_seconds() < until) {
      pollfd rest{.fd = pipe_.get(), .events = POLLIN, .revents = 0};
      poll(&rest, 1, 100);
      read_lines();
    }
    if (!line_.empty()) end_.lines.take(line_);
    return std::move(end_);
  }

 private:
  bool ended() {
    int status = 0;
    if (waitpid(pid_, &status, WNOHANG) != pid_) return false;
    end_.exit_code = shell_exit_code(status);
    return true;
  }

  void wait() {
    const double next = std::min({forward_at_, term_at_, kill_at_});
    const double left = std::clamp(next - monotonic_seconds(), 0.0, 5.0);
    std::array<pollfd, 2> waiting{{{.fd = signals_.fd(), .events = POLLIN, .revents = 0},
                                   {.fd = at_end_ ? -1 : pipe_.get(), .events = POLLIN, .revents = 0}}};
    poll(waiting.data(), waiting.size(), static_cast<int>(left * 1000) + 1);
  }

  void take_signals() {
    for (int signal = signals_.take(); signal != 0; signal = signals_.take()) {
      if (signal == SIGCHLD) continue;
      if (end_.signal == 0) end_.signal = signal;
      const bool can_pass = signal == SIGUSR1 || signal == SIGUSR2;
      if (can_pass) passed_on_as_ = signal;
      forward_at_ = std::min(forward_at_, monotonic_seconds() + (can_pass ? 0 : from_slurm_s));
    }
  }

  void read_lines() {
    std::array<char, 16384> buffer{};
    for (;;) {
      const auto count = read(pipe_.get(), buffer.data(), buffer.size());
      if (count < 0 && errno == EINTR) continue;
      at_end_ = count == 0;
      if (count <= 0) return;
      pass_on(buffer.data(), static_cast<std::size_t>(count));
      for (const char c : std::string_view(buffer.data(), static_cast<std::size_t>(count))) take(c);
    }
  }

  void take(char c) {
    constexpr std::size_t max_bytes = 4096;  // maximum length of a line; messages of srun are shorter
    if (c != '\n' && c != '\r') {            // \r ends a line, too: a progress bar may print only \r for hours
      if (line_.size() == max_bytes) line_.erase(0, max_bytes / 2);
      line_ += c;
      return;
    }
    end_.lines.take(line_);
    line_.clear();
    const bool cannot_start = needs_whole_allocation_ && end_.lines.allocation_shrank();
    if ((cannot_start || !end_.lines.dead().empty()) && term_at_ == not_due && kill_at_ == not_due)
      term_at_ = monotonic_seconds() + end_by_itself_s;
  }

  void act() {
    const double now = monotonic_seconds();
    if (now >= forward_at_) {
      kill(pid_, passed_on_as_);
      forward_at_ = now + again_s;
    }
    if (now >= term_at_) {
      kill(pid_, SIGTERM);
      term_at_ = not_due;
      kill_at_ = now + after_term_s;
    }
    if (now >= kill_at_) kill(pid_, SIGKILL);
  }

  SignalQueue& signals_;
  bool needs_whole_allocation_;
  StepEnd end_;
  pid_t pid_ = 0;
  Descriptor pipe_;
  bool at_end_ = false;
  std::string line_;
  int passed_on_as_ = SIGUSR1;
  double forward_at_ = not_due, term_at_ = not_due, kill_at_ = not_due;
};

}  // namespace

StepEnd run_step(const std::vector<std::string>& command, SignalQueue& signals, bool needs_whole_allocation, int input) {
  return RunningStep(command, signals, needs_whole_allocation, input).to_its_end();
}

}  // namespace trainrt::batch
