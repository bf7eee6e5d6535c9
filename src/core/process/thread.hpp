#pragma once
#include <functional>
#include <thread>

namespace trainrt {

/// Starts a thread that runs `work` with all signals blocked, except the signals of its own faults (SIGSEGV, SIGBUS,
/// SIGFPE, SIGILL, SIGABRT). All other signals are handled on the training thread.
std::thread thread_without_signals(std::function<void()> work);

}  // namespace trainrt
