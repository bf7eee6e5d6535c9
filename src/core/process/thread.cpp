#include "core/process/thread.hpp"

#include <csignal>
#include <utility>

#include <pthread.h>

namespace trainrt {

std::thread thread_without_signals(std::function<void()> work) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) sigdelset(&all, fault);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  std::thread thread(std::move(work));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

}  // namespace trainrt
