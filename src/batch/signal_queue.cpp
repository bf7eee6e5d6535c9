#include "batch/signal_queue.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include <trainrt/error.hpp>

#include "core/host.hpp"
#include "core/process/ignored_signal.hpp"

namespace trainrt::batch {

namespace {

/// Returns the set of signals to queue: SIGCHLD, and all stop signals that this process does not ignore. Also resets the
/// action of SIGCHLD to its default.
sigset_t signals_to_queue() {
  signal(SIGCHLD, SIG_DFL);  // waitpid() does not report the exit of children while SIGCHLD is ignored
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2, SIGCHLD})
    if (!is_signal_ignored(number)) sigaddset(&signals, number);
  return signals;
}

}  // namespace

SignalQueue::SignalQueue() {
  const auto signals = signals_to_queue();
  ignore_signal_here(SIGPIPE);
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  fd_ = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
  if (fd_ < 0) throw Error(std::string("cannot wait for signals: signalfd failed: ") + std::strerror(errno));
}

SignalQueue::~SignalQueue() { close(fd_); }

int SignalQueue::take() {
  signalfd_siginfo info{};
  return read(fd_, &info, sizeof info) == static_cast<ssize_t>(sizeof info) ? static_cast<int>(info.ssi_signo) : 0;
}

int SignalQueue::wait(double seconds) {
  const double until = monotonic_seconds() + seconds;
  for (double left = seconds; left >= 0; left = until - monotonic_seconds()) {
    pollfd waiting{.fd = fd_, .events = POLLIN, .revents = 0};
    poll(&waiting, 1, static_cast<int>(std::min(left, 3600.0) * 1000) + 1);
    for (int signal = take(); signal != 0; signal = take())
      if (signal != SIGCHLD) return signal;
  }
  return 0;
}

}  // namespace trainrt::batch
