#include "io/files/workers.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <system_error>
#include <trainrt/error.hpp>

namespace trainrt::io {

namespace {

/// Blocks all signals of the calling thread, except those of its own faults, as long as the object exists. Threads that
/// are started meanwhile inherit the signal mask.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    ::sigfillset(&all);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) ::sigdelset(&all, fault);
    ::pthread_sigmask(SIG_BLOCK, &all, &before_);
  }
  SignalsBlocked(const SignalsBlocked&) = delete;
  ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

}  // namespace

Workers::Workers(int threads, Priority priority) {
  const SignalsBlocked blocked;
  // Reserve memory first, so that emplace_back() below throws only if a thread cannot start.
  threads_.reserve(static_cast<std::size_t>(std::max(threads, 1)));
  try {
    do threads_.emplace_back([this, priority] { work(priority); });
    while (static_cast<int>(threads_.size()) < threads);
  } catch (const std::system_error& error) {
    // A pool with fewer threads than requested is accepted; a pool without threads is an error.
    if (threads_.empty())
      throw Error(fmt::format("cannot start a thread: {}; raise ulimit -u (processes and threads) or ulimit -v (memory)",
                              error.code().message()));
  }
}

Workers::~Workers() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (auto& thread : threads_) thread.join();
}

void Workers::submit(std::function<void()> task) {
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  wake_.notify_one();
}

void Workers::drain() {
  std::unique_lock lock(mutex_);
  idle_.wait(lock, [&] { return tasks_.empty() && running_ == 0; });
}

bool Workers::drain_within(double seconds) {
  std::unique_lock lock(mutex_);
  return idle_.wait_for(lock, std::chrono::duration<double>(seconds), [&] { return tasks_.empty() && running_ == 0; });
}

void Workers::work(Priority priority) {
  // On Linux, setpriority(2) changes the nice value of the calling thread only (see its section "C library/kernel
  // differences"). Errors are ignored.
  constexpr int background_nice = 10;
  if (priority == Priority::yield_to_others) ::setpriority(PRIO_PROCESS, 0, background_nice);
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [&] { return stopping_ || !tasks_.empty(); });
    if (tasks_.empty()) return;
    auto task = std::move(tasks_.front());
    tasks_.pop_front();
    ++running_;
    lock.unlock();
    task();
    task = nullptr;  // destroys the captures of the task, such as a Block, before drain() returns
    lock.lock();
    --running_;
    if (tasks_.empty() && running_ == 0) idle_.notify_all();
  }
}

}  // namespace trainrt::io
