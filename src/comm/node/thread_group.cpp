#include "comm/node/thread_group.hpp"

#include <new>
#include <numeric>

#include <fmt/format.h>
#include <sys/mman.h>

namespace trainrt::comm {

namespace {

/// Returns `bytes` bytes of zeroed memory. The system allocates each page at its first access.
Memory pages(std::size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  return Memory(static_cast<std::byte*>(memory), [bytes](std::byte* p) { munmap(p, bytes); });
}

}  // namespace

ThreadGroup::ThreadGroup(int size, double timeout_seconds)
    : size_(size), timeout_seconds_(timeout_seconds), memory_(pages(Board::bytes_for(size))) {}

Board ThreadGroup::board_of(int rank) const {
  std::vector<int> numbers(static_cast<std::size_t>(size_));
  std::iota(numbers.begin(), numbers.end(), 0);
  return Board(memory_.get(), rank, std::move(numbers));
}

void ThreadGroup::abandon(const std::string& why) { board_of(0).abandon(why); }

ThreadLaunch::ThreadLaunch(std::shared_ptr<ThreadGroup> group, int rank) : group_(std::move(group)) {
  world_.rank = rank;
  world_.size = group_->size();
  world_.launcher = "threads";
  world_.node_of_rank.assign(static_cast<std::size_t>(world_.size), 0);
  derive_topology(world_);
}

void ThreadLaunch::abort(int code) noexcept {
  group_->abandon(fmt::format("rank {} exited with code {}", world_.rank, code));
}

}  // namespace trainrt::comm
