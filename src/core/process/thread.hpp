#pragma once
#include <functional>
#include <thread>

namespace trainrt {

/// A thread of the runtime's own, that no signal interrupts but its own faults: signals belong to the train thread.
std::thread thread_without_signals(std::function<void()> work);

}  // namespace trainrt
