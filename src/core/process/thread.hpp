#pragma once
#include <functional>
#include <thread>

namespace trainrt {

/// Starts a thread that blocks all signals except those of its own faults (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT): the
/// train thread handles signals.
std::thread thread_without_signals(std::function<void()> work);

}  // namespace trainrt
