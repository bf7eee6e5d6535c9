#include "core/process/thread.hpp"

#include <csignal>
#include <utility>

#include "core/process/signals_blocked.hpp"

namespace trainrt {

std::thread thread_without_signals(std::function<void()> work) {
  const SignalsBlocked blocked({SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT});
  return std::thread(std::move(work));
}

}  // namespace trainrt
