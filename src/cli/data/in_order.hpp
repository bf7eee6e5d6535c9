#pragma once
#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "batch/signals.hpp"
#include "core/process/thread.hpp"

namespace trainrt::cli::datasets {

/// Processes the numbers from `first` to `end` - 1 in several threads and passes on the results in order. A thread that
/// is ahead waits, so that there are at most as many results as threads.
class InOrder {
 public:
  InOrder(std::uint64_t first, std::uint64_t end) : next_(first), turn_(first), end_(end) {}

  /// Calls `work(number)` in several threads, and `take(number, result)` in order, in one thread at a time. After an
  /// exception of a thread or a stop signal, all threads end. Then throws the exception, or an Error after a stop
  /// signal.
  template <class Work, class Take>
  void run(int threads, const Work& work, const Take& take) {
    const auto left = end_ - std::min(next_, end_);
    std::vector<std::thread> others;
    for (std::uint64_t i = 1; i < std::min<std::uint64_t>(static_cast<std::uint64_t>(threads), left); ++i)
      others.push_back(thread_without_signals([&] { walk(work, take); }));
    walk(work, take);
    for (auto& thread : others) thread.join();
    if (error_) std::rethrow_exception(error_);
  }

 private:
  template <class Work, class Take>
  void walk(const Work& work, const Take& take) try {
    for (std::uint64_t number = 0; claim(number);) {
      auto result = work(number);
      std::unique_lock lock(mutex_);
      turned_.wait(lock, [&] { return turn_ == number || error_; });
      if (error_) return;
      lock.unlock();  // no other thread has this turn
      take(number, std::move(result));
      lock.lock();
      ++turn_;
      turned_.notify_all();
    }
  } catch (...) {
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = std::current_exception();
    turned_.notify_all();
  }

  bool claim(std::uint64_t& number) {
    if (const int signal = batch::stop_signal(); signal != 0)
      throw Error(fmt::format("ended by {}", batch::signal_name(signal)));
    const std::lock_guard lock(mutex_);
    if (next_ >= end_ || error_) return false;
    number = next_++;
    return true;
  }

  std::mutex mutex_;
  std::condition_variable turned_;
  std::uint64_t next_, turn_, end_;
  std::exception_ptr error_;
};

}  // namespace trainrt::cli::datasets
