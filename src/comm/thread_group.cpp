#include "comm/thread_group.hpp"

#include <chrono>

#include <fmt/format.h>
#include <trainrt/error.hpp>

namespace trainrt::comm {

void ThreadGroup::wait(std::unique_lock<std::mutex>& lock, const char* what, const std::function<bool()>& ready,
                       const std::function<std::string()>& missing) {
  const auto limit = std::chrono::milliseconds(static_cast<long>(timeout_seconds_ * 1000));
  const bool in_time = changed_.wait_for(lock, limit, [&] { return ready() || !abandoned_.empty(); });
  if (ready()) return;
  if (!abandoned_.empty()) throw Error(fmt::format("{}: another rank failed: {}", what, abandoned_));
  if (!in_time)
    throw Error(fmt::format("{}: waited {} s (failure.collective_timeout) for rank {}", what, timeout_seconds_, missing()));
}

std::vector<void*> ThreadGroup::exchange(int rank, void* mine, const char* what) {
  std::unique_lock lock(mutex_);
  slots_[static_cast<std::size_t>(rank)] = mine;
  present_[static_cast<std::size_t>(rank)] = 1;
  const auto meeting = meeting_;
  if (++arrived_ == size_) {
    gathered_ = slots_;
    arrived_ = 0;
    present_.assign(present_.size(), 0);
    ++meeting_;
    changed_.notify_all();
    return gathered_;
  }
  wait(
      lock, what, [&] { return meeting_ != meeting; },
      [&] {
        std::vector<std::string> late;
        for (std::size_t r = 0; r < present_.size(); ++r)
          if (present_[r] == 0) late.push_back(std::to_string(r));
        return join(late);
      });
  return gathered_;
}

void ThreadGroup::abandon(const std::string& why) {
  const std::lock_guard lock(mutex_);
  if (abandoned_.empty()) abandoned_ = why;
  changed_.notify_all();
}

void ThreadGroup::leave(int rank, const std::vector<std::int64_t>& value) {
  std::unique_lock lock(mutex_);
  const auto number = left_[static_cast<std::size_t>(rank)]++;
  auto& round = rounds_[number % 2];
  if (round.values.empty()) round.values.resize(static_cast<std::size_t>(size_));
  round.values[static_cast<std::size_t>(rank)] = value;
  ++round.arrived;
  changed_.notify_all();
}

std::vector<std::vector<std::int64_t>> ThreadGroup::collect(int rank) {
  std::unique_lock lock(mutex_);
  auto& round = rounds_[(left_[static_cast<std::size_t>(rank)] - 1) % 2];
  wait(
      lock, "vote", [&] { return round.arrived == size_; },
      [&] {
        std::vector<std::string> late;
        for (std::size_t r = 0; r < round.values.size(); ++r)
          if (round.values[r].empty()) late.push_back(std::to_string(r));
        return join(late);
      });
  auto values = round.values;
  if (++round.read == size_) round = Round{};  // no rank starts the next but one before all have read this one
  return values;
}

ThreadLaunch::ThreadLaunch(std::shared_ptr<ThreadGroup> group, int rank) : group_(std::move(group)) {
  world_.rank = rank;
  world_.size = group_->size();
  world_.launcher = "threads";
  world_.node_of_rank.assign(static_cast<std::size_t>(world_.size), 0);
  derive_topology(world_);
}

void ThreadLaunch::abort(int code) noexcept {
  group_->abandon(fmt::format("rank {} ended with code {}", world_.rank, code));
}

}  // namespace trainrt::comm
