#include "trainer/start_watch.hpp"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/host.hpp"
#include "core/log.hpp"

namespace trainrt::trainer {

double start_limit(const RunSpec& spec) {
  switch (spec.hang_timeout.kind) {
    case LimitOption::Kind::off:
      return 0;
    case LimitOption::Kind::seconds:
      return std::max(spec.hang_timeout.seconds, 60.0);
    case LimitOption::Kind::automatic:
      return 300 + spec.launch_timeout_s + 2 * spec.storage_timeout_s;
  }
  return 0;
}

StartWatch::StartWatch(launch::Launch& launch, const RunSpec& spec)
    : launch_(launch), waits_(WaitNote::of_this_thread()), limit_s_(start_limit(spec)) {
  if (limit_s_ > 0) thread_ = std::thread([this] { watch(); });
}

StartWatch::~StartWatch() {
  {
    const std::lock_guard lock(mutex_);
    started_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void StartWatch::watch() {
  std::unique_lock lock(mutex_);
  const auto started = [this] { return started_; };
  if (changed_.wait_for(lock, std::chrono::duration<double>(limit_s_), started)) return;
  // All ranks find it at about the same time: the first speaks, and ends the others before they do.
  if (launch_.world().rank != 0 && changed_.wait_for(lock, std::chrono::seconds(2), started)) return;
  const auto in = waits_.text();
  log::error(fmt::format("hang: the run has not started within {:.0f} s (failure.hang_timeout): on {} it {}", limit_s_,
                         host_name(), in.empty() ? "is busy (a file system that does not answer?)" : "waits in " + in));
  launch_.abort(static_cast<int>(ExitCode::failed));
}

}  // namespace trainrt::trainer
