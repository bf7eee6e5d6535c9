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

/// Limits of a ReadAhead.
struct ReadAheadLimits {
  int threads = 1;          ///< > 0
  std::size_t batches = 2;  ///< > 0: maximum number of items that are read or being read, and not yet taken
  std::size_t run = 1;      ///< > 0, <= batches: items that a thread reads one after another; more if items are small, so
                            ///< that threads wake rarely
};

/// Reads numbered items ahead in its own threads, several at once, and returns them in the order of their numbers. One
/// thread takes the items. Their memory is used again.
template <class Item>
class ReadAhead {
 public:
  using Limits = ReadAheadLimits;
  /// Reads the item with the given number into `into`, which may hold an older item. Called by any of the threads. next()
  /// throws what it throws.
  using Read = std::function<void(std::uint64_t number, Item& into)>;

  /// Reads the items `first` to `end` - 1. The memory of the items in `spare` is used first.
  ReadAhead(std::uint64_t first, std::uint64_t end, Read read, Limits limits, std::vector<Item> spare = {})
      : read_(std::move(read)),
        end_(end),
        run_(limits.run),
        slots_(limits.batches),
        next_read_(first),
        next_taken_(first) {
    for (std::size_t i = 0; i < std::min(spare.size(), slots_.size()); ++i) slots_[i].item = std::move(spare[i]);
    for (int i = 0; i < limits.threads; ++i) threads_.push_back(thread_without_signals([this] { work(); }));
  }
  /// Waits until the items that are being read are complete.
  ~ReadAhead() { join(); }
  ReadAhead(const ReadAhead&) = delete;

  /// Takes the next item, of which there must be one, and keeps the memory of `item` for a later one. Returns whether the
  /// item was ready: false if the call waited.
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

  /// Returns whether next() would return an item at once.
  bool has_ready() {
    const std::lock_guard lock(mutex_);
    const auto& slot = slot_of(next_taken_);
    return slot.is_ready && !slot.error;
  }

  /// Waits until the items that are being read are complete, and returns the memory of the items that were not taken. No
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
      ending_ = true;
    }
    room_.notify_all();
    for (auto& thread : threads_) thread.join();
    threads_.clear();
  }

  void work() {
    for (;;) {
      std::unique_lock lock(mutex_);
      room_.wait(lock, [&] { return ending_ || may_begin(); });
      if (ending_) return;
      const auto first = next_read_;
      next_read_ += next_run();
      const auto end = next_read_;
      lock.unlock();
      read_run(first, end);
    }
  }

  /// Reads a run of items, and publishes them at its end, in a slow run every millisecond.
  void read_run(std::uint64_t first, std::uint64_t end) {
    constexpr auto max_hidden = std::chrono::milliseconds(1);
    auto shown_at = std::chrono::steady_clock::now();
    for (auto number = first; number < end && !ending_; ++number) {
      auto& slot = slot_of(number);
      try {
        read_(number, slot.item);
      } catch (...) {
        slot.error = std::current_exception();
      }
      const auto now = std::chrono::steady_clock::now();
      if (number + 1 < end && now - shown_at < max_hidden) continue;
      publish(first, number + 1);
      first = number + 1;
      shown_at = now;
    }
  }

  void publish(std::uint64_t first, std::uint64_t end) {
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
  std::atomic<bool> ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace trainrt::data
