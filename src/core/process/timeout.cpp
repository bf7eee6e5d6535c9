#include "core/process/timeout.hpp"

#include <chrono>
#include <utility>

#include "core/process/thread.hpp"

namespace trainrt {

Timeout::Timeout(double seconds, std::function<void()> act)
    : thread_(thread_without_signals([this, seconds, act = std::move(act)] {
        std::unique_lock lock(mutex_);
        if (changed_.wait_for(lock, std::chrono::duration<double>(seconds), [this] { return ended_; })) return;
        lock.unlock();
        act();
      })) {}

Timeout::~Timeout() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

}  // namespace trainrt
