#include "cli/watchdog.hpp"

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/host.hpp"
#include "core/log.hpp"

namespace trainrt::cli {

Watchdog::Watchdog(launch::Launch& launch) : launch_(launch), thread_([this] { guard(); }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Watchdog::watch(const std::string& what, double limit_seconds) {
  {
    const std::lock_guard lock(mutex_);
    what_ = what;
    limit_seconds_ = limit_seconds;
    deadline_ = std::chrono::steady_clock::now() + std::chrono::milliseconds(static_cast<long>(limit_seconds * 1000));
  }
  changed_.notify_all();
}

void Watchdog::guard() {
  std::unique_lock lock(mutex_);
  while (!ending_) {
    if (deadline_ == std::chrono::steady_clock::time_point::max())
      changed_.wait(lock);
    else
      changed_.wait_until(lock, deadline_);
    if (ending_ || std::chrono::steady_clock::now() < deadline_) continue;
    log::error(
        fmt::format("{} holds this process on {} since {} s: ending. Look at what it uses there (a network file "
                    "system that does not answer, a fabric that is down)",
                    what_, host_name(), limit_seconds_));
    launch_.abort(static_cast<int>(ExitCode::failed));
    return;
  }
}

}  // namespace trainrt::cli
