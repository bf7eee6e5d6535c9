#include "frameworks/program/end_watch.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>

#include <pthread.h>
#include <sys/wait.h>

namespace trainrt::program {

namespace {

double steady_s() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// Stop signals belong to the train thread; faults stay a thread's own.
std::thread thread_without_stop_signals(auto work) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) sigdelset(&all, fault);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  std::thread thread(std::move(work));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

}  // namespace

EndWatch::EndWatch(pid_t child)
    : thread_(thread_without_stop_signals([this, child] {
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
