#include "program/children/end_watch.hpp"

#include <cerrno>
#include <chrono>

#include <sys/wait.h>

#include "core/process/thread.hpp"

namespace trainrt::program {

namespace {

double steady_s() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace

EndWatch::EndWatch(pid_t child)
    : thread_(thread_without_signals([this, child] {
        siginfo_t info{};
        while (waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
        }
        ended_at_s_.store(steady_s());
      })) {}

EndWatch::~EndWatch() { thread_.join(); }

double EndWatch::age_s() const {
  const double ended = ended_at_s_.load();
  return ended < 0 ? 0 : steady_s() - ended;
}

}  // namespace trainrt::program
