#include "data/prefetcher.hpp"

#include <utility>

#include "core/thread.hpp"

namespace trainrt::data {

Prefetcher::Prefetcher(std::uint64_t first, std::uint64_t end, Read read, Limits limits)
    : read_(std::move(read)), end_(end), slots_(limits.batches), next_read_(first), next_taken_(first) {
  for (int i = 0; i < limits.threads; ++i) threads_.push_back(thread_without_signals([this] { work(); }));
}

Prefetcher::~Prefetcher() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  room_.notify_all();
  for (auto& thread : threads_) thread.join();
}

void Prefetcher::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    room_.wait(lock, [&] { return ending_ || may_begin(); });
    if (ending_) return;
    const auto number = next_read_++;
    auto& slot = slot_of(number);
    lock.unlock();
    std::exception_ptr error;
    try {
      read_(number, slot.batch);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    slot.error = error;
    slot.is_ready = true;
    if (number == next_taken_) ready_.notify_one();
  }
}

void Prefetcher::next(BatchData& batch) {
  std::unique_lock lock(mutex_);
  auto& slot = slot_of(next_taken_);
  ready_.wait(lock, [&] { return slot.is_ready; });
  slot.is_ready = false;
  ++next_taken_;
  std::swap(batch, slot.batch);
  const auto error = std::exchange(slot.error, nullptr);
  lock.unlock();
  room_.notify_one();
  if (error) std::rethrow_exception(error);
}

}  // namespace trainrt::data
