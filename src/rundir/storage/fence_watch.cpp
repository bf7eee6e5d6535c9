#include "rundir/storage/fence_watch.hpp"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

namespace trainrt::rundir {

/// The state shared by a FenceWatch and its checking thread. It lives until both have ended.
struct FenceWatch::Shared {
  const io::FencedDirectory files;
  const std::function<void()> end;
  const Times times;
  std::mutex mutex{};
  std::condition_variable changed{};
  bool stopped = false;

  void watch() {
    int gone_in_a_row = 0;
    std::unique_lock lock(mutex);
    for (;;) {
      const double pause_s = gone_in_a_row > 0 ? times.recheck_after_s : times.interval_s;
      if (changed.wait_for(lock, std::chrono::duration<double>(pause_s), [this] { return stopped; })) return;
      lock.unlock();
      gone_in_a_row = files.is_fenced() ? gone_in_a_row + 1 : 0;
      lock.lock();
      if (stopped) return;
      if (gone_in_a_row < 2) continue;
      end();
      return;
    }
  }
};

FenceWatch::FenceWatch(io::FencedDirectory files, std::function<void()> end, Times times)
    : shared_(new Shared{std::move(files), std::move(end), times}) {
  std::thread([shared = shared_] { shared->watch(); }).detach();
}

void FenceWatch::stop() {
  const std::lock_guard lock(shared_->mutex);
  shared_->stopped = true;
  shared_->changed.notify_all();
}

}  // namespace trainrt::rundir
