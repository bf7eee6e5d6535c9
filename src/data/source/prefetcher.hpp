#pragma once
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "data/source/pinning.hpp"
#include "data/source/source.hpp"

namespace trainrt::data {

/// One batch of one rank.
struct BatchData {
  std::vector<std::uint64_t> samples;
  std::vector<Column> columns;            ///< by the number of the field
  std::vector<bool> is_read;              ///< which of them hold this batch
  std::vector<PinnedValues> pinned = {};  ///< if a GPU follows: the locks on their memory, which end before it
};

/// Reads batches ahead in threads of its own, several at once, and hands them over in their order. One thread takes them.
class Prefetcher {
 public:
  struct Limits {
    int threads = 1;          ///< > 0
    std::size_t batches = 2;  ///< > 0: that are read or being read, and not yet taken
    std::size_t run =
        1;  ///< > 0, <= batches: that a thread takes on at once. More for small ones, so that threads wake rarely
  };
  /// Fills in the batch with that number; called by any of the threads. What it throws next() throws.
  using Read = std::function<void(std::uint64_t number, BatchData& into)>;

  /// Reads the batches from `first` on, before `end`, into the memory of `spare` first.
  Prefetcher(std::uint64_t first, std::uint64_t end, Read read, Limits limits, std::vector<BatchData> spare = {});
  /// Waits for what is being read.
  ~Prefetcher();
  Prefetcher(const Prefetcher&) = delete;

  /// Takes the next batch; the memory of `batch` is used again for a later one. There must be one left.
  /// Returns whether it was there already: false if it was waited for.
  bool next(BatchData& batch);
  /// Whether next() would return a batch at once.
  bool has_ready();
  /// Waits for what is being read, and gives the memory of the batches that were not taken. Nothing may be called after it.
  std::vector<BatchData> end();

 private:
  struct Slot {
    BatchData batch;
    std::exception_ptr error;
    bool is_ready = false;
  };
  Slot& slot_of(std::uint64_t number) { return slots_[number % slots_.size()]; }
  std::uint64_t next_run() const { return std::min<std::uint64_t>(run_, end_ - next_read_); }
  bool may_begin() const { return next_read_ < end_ && next_read_ + next_run() <= next_taken_ + slots_.size(); }
  void join();
  void work();
  void read_run(std::uint64_t first, std::uint64_t end);
  void show(std::uint64_t first, std::uint64_t end);

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
