#include "program/children/exit_watch.hpp"

#include <cerrno>
#include <chrono>

#include <sys/wait.h>

#include "core/process/thread.hpp"

namespace trainrt::program {

namespace {

double steady_s() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace

ExitWatch::ExitWatch(pid_t child)
    : thread_(thread_without_signals([this, child] {
        siginfo_t info{};
        while (waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
        }
        exited_at_s_.store(steady_s());
      })) {}

ExitWatch::~ExitWatch() { thread_.join(); }

double ExitWatch::age_s() const {
  const double exited = exited_at_s_.load();
  return exited < 0 ? 0 : steady_s() - exited;
}

}  // namespace trainrt::program
