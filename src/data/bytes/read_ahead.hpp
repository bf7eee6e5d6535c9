#pragma once
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "core/process/thread.hpp"

namespace trainrt::data {

/// Number of threads and memory limits of a ReadAhead.
struct ReadAheadLimits {
  int threads = 1;        ///< number of threads, > 0
  std::size_t items = 2;  ///< maximum number of items that are being read, or wait to be returned by next(); > 0
  /// Number of consecutive items (a run) that a thread reads in one go; > 0, <= items. The thread begins when there is room
  /// for all of them. A larger number is faster for items that take little time to read, because threads are woken up less
  /// often.
  std::size_t run = 1;
};

/// Reads numbered items, such as batches, in threads of its own before the items are needed. The threads read several
/// items at the same time. next() returns the items in ascending order of their numbers. Only one thread may call the
/// functions of a ReadAhead.
template <class Item>
class ReadAhead {
 public:
  /// Reads the item `number` into `into`. `into` may hold an older item with memory that can be reused. Called by any
  /// of the threads. An exception is thrown later by the call of next() that would return the item.
  using Read = std::function<void(std::uint64_t number, Item& into)>;

  /// Starts to read the items `first` to `end` - 1. The memory of the items in `spare` is reused first.
  ReadAhead(std::uint64_t first, std::uint64_t end, Read read, ReadAheadLimits limits, std::vector<Item> spare = {})
      : read_(std::move(read)), end_(end), run_(limits.run), slots_(limits.items), next_read_(first), next_taken_(first) {
    for (std::size_t i = 0; i < std::min(spare.size(), slots_.size()); ++i) slots_[i].item = std::move(spare[i]);
    for (int i = 0; i < limits.threads; ++i) threads_.push_back(thread_without_signals([this] { work(); }));
  }
  /// Waits for the reads in progress.
  ~ReadAhead() { join(); }
  ReadAhead(const ReadAhead&) = delete;

  /// Swaps `item` with the next item, and waits for that item if necessary. The memory of the old `item` is reused. Returns
  /// whether the next item was ready without waiting. Precondition: not all items have been returned yet.
  bool next(Item& item) {
    std::unique_lock lock(mutex_);
    auto& slot = slot_of(next_taken_);
    const bool was_ready = slot.is_ready;
    ready_.wait(lock, [&] { return slot.is_ready; });
    slot.is_ready = false;
    ++next_taken_;
    std::swap(item, slot.item);
    const auto error = std::exchange(slot.error, nullptr);
    const bool has_room = may_begin();
    lock.unlock();
    if (has_room) room_.notify_one();
    if (error) std::rethrow_exception(error);
    return was_ready;
  }
  /// Returns whether next() would return an item without waiting.
  bool has_ready() {
    const std::lock_guard lock(mutex_);
    const auto& slot = slot_of(next_taken_);
    return slot.is_ready && !slot.error;
  }
  /// Waits for the reads in progress, and returns all items of this object, so that the caller can reuse their memory. No
  /// function may be called afterwards.
  std::vector<Item> end() {
    join();
    std::vector<Item> spare;
    for (auto& slot : slots_) spare.push_back(std::move(slot.item));
    return spare;
  }

 private:
  struct Slot {
    Item item;
    std::exception_ptr error;
    bool is_ready = false;
  };
  Slot& slot_of(std::uint64_t number) { return slots_[number % slots_.size()]; }
  std::uint64_t next_run() const { return std::min<std::uint64_t>(run_, end_ - next_read_); }
  bool may_begin() const { return next_read_ < end_ && next_read_ + next_run() <= next_taken_ + slots_.size(); }

  void join() {
    {
      const std::lock_guard lock(mutex_);
      is_ending_ = true;
    }
    room_.notify_all();
    for (auto& thread : threads_) thread.join();
    threads_.clear();
  }

  void work() {
    for (;;) {
      std::unique_lock lock(mutex_);
      room_.wait(lock, [&] { return is_ending_ || may_begin(); });
      if (is_ending_) return;
      const auto first = next_read_;
      next_read_ += next_run();
      const auto end = next_read_;
      lock.unlock();
      read_run(first, end);
    }
  }

  /// Reads the items `first` to `end` - 1. Makes the items that have been read available to next() after the last item,
  /// and about every millisecond before that.
  void read_run(std::uint64_t first, std::uint64_t end) {
    constexpr auto max_delay = std::chrono::milliseconds(1);
    auto shown_at = std::chrono::steady_clock::now();
    for (auto number = first; number < end && !is_ending_; ++number) {
      auto& slot = slot_of(number);
      try {
        read_(number, slot.item);
      } catch (...) {
        slot.error = std::current_exception();
      }
      const auto now = std::chrono::steady_clock::now();
      if (number + 1 < end && now - shown_at < max_delay) continue;
      set_ready(first, number + 1);
      first = number + 1;
      shown_at = now;
    }
  }

  void set_ready(std::uint64_t first, std::uint64_t end) {
    const std::lock_guard lock(mutex_);
    for (auto number = first; number < end; ++number) slot_of(number).is_ready = true;
    if (first <= next_taken_ && next_taken_ < end) ready_.notify_one();
  }

  const Read read_;
  const std::uint64_t end_;
  const std::size_t run_;
  std::mutex mutex_;
  std::condition_variable room_, ready_;
  std::vector<Slot> slots_;
  std::uint64_t next_read_, next_taken_;
  std::atomic<bool> is_ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace trainrt::data
