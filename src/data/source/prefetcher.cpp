#include "data/source/prefetcher.hpp"

#include <chrono>
#include <utility>

#include "core/process/thread.hpp"

namespace trainrt::data {

Prefetcher::Prefetcher(std::uint64_t first, std::uint64_t end, Read read, Limits limits, std::vector<BatchData> spare)
    : read_(std::move(read)), end_(end), run_(limits.run), slots_(limits.batches), next_read_(first), next_taken_(first) {
  for (std::size_t i = 0; i < std::min(spare.size(), slots_.size()); ++i) slots_[i].batch = std::move(spare[i]);
  for (int i = 0; i < limits.threads; ++i) threads_.push_back(thread_without_signals([this] { work(); }));
}

Prefetcher::~Prefetcher() { join(); }

std::vector<BatchData> Prefetcher::end() {
  join();
  std::vector<BatchData> spare;
  for (auto& slot : slots_) spare.push_back(std::move(slot.batch));
  return spare;
}

void Prefetcher::join() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  room_.notify_all();
  for (auto& thread : threads_) thread.join();
  threads_.clear();
}

void Prefetcher::work() {
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

/// Shows what it has read when the run ends, and in a slow one each millisecond.
void Prefetcher::read_run(std::uint64_t first, std::uint64_t end) {
  constexpr auto most_hidden = std::chrono::milliseconds(1);
  auto shown_at = std::chrono::steady_clock::now();
  for (auto number = first; number < end && !ending_; ++number) {
    auto& slot = slot_of(number);
    try {
      read_(number, slot.batch);
    } catch (...) {
      slot.error = std::current_exception();
    }
    const auto now = std::chrono::steady_clock::now();
    if (number + 1 < end && now - shown_at < most_hidden) continue;
    show(first, number + 1);
    first = number + 1;
    shown_at = now;
  }
}

void Prefetcher::show(std::uint64_t first, std::uint64_t end) {
  const std::lock_guard lock(mutex_);
  for (auto number = first; number < end; ++number) slot_of(number).is_ready = true;
  if (first <= next_taken_ && next_taken_ < end) ready_.notify_one();
}

bool Prefetcher::has_ready() {
  const std::lock_guard lock(mutex_);
  const auto& slot = slot_of(next_taken_);
  return slot.is_ready && !slot.error;
}

bool Prefetcher::next(BatchData& batch) {
  std::unique_lock lock(mutex_);
  auto& slot = slot_of(next_taken_);
  const bool was_ready = slot.is_ready;
  ready_.wait(lock, [&] { return slot.is_ready; });
  slot.is_ready = false;
  ++next_taken_;
  std::swap(batch, slot.batch);
  const auto error = std::exchange(slot.error, nullptr);
  const bool has_room = may_begin();
  lock.unlock();
  if (has_room) room_.notify_one();
  if (error) std::rethrow_exception(error);
  return was_ready;
}

}  // namespace trainrt::data
