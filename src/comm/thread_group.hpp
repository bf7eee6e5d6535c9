#pragma once
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "launch/launcher.hpp"

namespace trainrt::comm {

/// Where ranks that are threads of one process meet. All of them must call the same operations in the same order.
class ThreadGroup {
 public:
  ThreadGroup(int size, double timeout_seconds)
      : size_(size), timeout_seconds_(timeout_seconds), slots_(static_cast<std::size_t>(size)) {}

  int size() const { return size_; }
  /// Every rank hands in a pointer and gets all of them, in rank order. The pointers are good until the next meeting.
  std::vector<void*> exchange(int rank, void* mine, const char* what);
  void meet(int rank, const char* what) { exchange(rank, nullptr, what); }
  /// Wakes every waiting rank with an Error: a rank failed, and will not come.
  void abandon(const std::string& why);

  /// A meeting that does not wait at the door: leave() hands in a value, collect() waits for all of that round.
  void leave(int rank, const std::vector<std::int64_t>& value);
  std::vector<std::vector<std::int64_t>> collect(int rank);

 private:
  struct Round {
    int arrived = 0;
    int read = 0;
    std::vector<std::vector<std::int64_t>> values;
  };
  void wait(std::unique_lock<std::mutex>& lock, const char* what, const std::function<bool()>& ready,
            const std::function<std::string()>& missing);

  int size_;
  double timeout_seconds_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<void*> slots_;
  std::vector<char> present_ = std::vector<char>(static_cast<std::size_t>(size_), 0);
  std::vector<void*> gathered_;
  std::uint64_t meeting_ = 0;
  int arrived_ = 0;
  std::string abandoned_;
  Round rounds_[2];
  std::vector<std::uint64_t> left_ = std::vector<std::uint64_t>(static_cast<std::size_t>(size_), 0);
};

/// The launch of a rank that is a thread; the "thread" backend is viable for it alone.
class ThreadLaunch : public launch::Launch {
 public:
  ThreadLaunch(std::shared_ptr<ThreadGroup> group, int rank);
  /// Ends this rank's group, not the process.
  void abort(int code) noexcept override;
  const std::shared_ptr<ThreadGroup>& group() const { return group_; }

 private:
  std::shared_ptr<ThreadGroup> group_;
};

}  // namespace trainrt::comm
