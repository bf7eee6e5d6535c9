// Ranks that are threads of one process: most of the distributed logic is tested with it, in milliseconds.
#include <algorithm>
#include <cstring>
#include <limits>

#include "comm/backend.hpp"
#include "comm/reduce.hpp"
#include "comm/thread_group.hpp"

namespace trainrt::comm::plugins {

namespace {

class ThreadCommunicator : public Communicator {
 public:
  ThreadCommunicator(std::shared_ptr<ThreadGroup> group, int rank)
      : Communicator(rank, group->size()), group_(std::move(group)) {}
  std::string_view name() const override { return "thread"; }

  using Communicator::all_reduce;
  /// Each rank reduces one stretch of all ranks' buffers, and writes the result into all of them.
  void all_reduce(Buffer buffer, Op op) override {
    require_reducible(buffer.dtype);
    const auto buffers = group_->exchange(rank(), buffer.data, "all_reduce");
    const auto ranks = static_cast<std::size_t>(size());
    const auto width = size_of(buffer.dtype);
    const auto first = buffer.count * static_cast<std::size_t>(rank()) / ranks;
    const auto count = buffer.count * (static_cast<std::size_t>(rank()) + 1) / ranks - first;
    std::vector<std::vector<std::byte>> copies;
    std::vector<std::byte*> parts;
    for (auto* other : buffers) {
      const auto* from = static_cast<std::byte*>(other) + first * width;
      parts.push_back(copies.emplace_back(from, from + count * width).data());
    }
    const Buffer stretch{parts[0], count, buffer.dtype};
    combine_tree(parts, stretch, op);
    if (op == Op::mean) finish_mean(stretch, size());
    for (auto* other : buffers)
      if (count > 0) std::memcpy(static_cast<std::byte*>(other) + first * width, parts[0], count * width);
    group_->meet(rank(), "all_reduce");
  }

  void broadcast(Buffer buffer, int root) override {
    const auto buffers = group_->exchange(rank(), buffer.data, "broadcast");
    if (rank() != root && buffer.bytes() > 0)
      std::memcpy(buffer.data, buffers[static_cast<std::size_t>(root)], buffer.bytes());
    group_->meet(rank(), "broadcast");
  }

  std::vector<std::string> all_gather(std::string_view bytes) override {
    const auto views = group_->exchange(rank(), &bytes, "all_gather");
    std::vector<std::string> all;
    for (const auto* view : views) all.emplace_back(*static_cast<const std::string_view*>(view));
    group_->meet(rank(), "all_gather");
    return all;
  }

  void barrier() override { group_->meet(rank(), "barrier"); }

  void start_vote(const Vote& mine) override { group_->leave(rank(), {mine.begin(), mine.end()}); }
  Vote finish_vote() override {
    Vote result;
    result.fill(std::numeric_limits<std::int64_t>::min());
    for (const auto& vote : group_->collect(rank()))
      for (std::size_t i = 0; i < result.size(); ++i) result[i] = std::max(result[i], vote[i]);
    return result;
  }

 private:
  std::shared_ptr<ThreadGroup> group_;
};

}  // namespace

extern const Backend thread;
const Backend thread{
    .name = "thread",
    .help = "ranks that are threads of one process (tests)",
    .preference = 20,
    .viable = [](const launch::Launch& launch) { return dynamic_cast<const ThreadLaunch*>(&launch) != nullptr; },
    .open = [](launch::Launch& launch, const CommOptions&) -> std::unique_ptr<Communicator> {
      const auto& threads = dynamic_cast<ThreadLaunch&>(launch);
      return std::make_unique<ThreadCommunicator>(threads.group(), launch.world().rank);
    }};

}  // namespace trainrt::comm::plugins
