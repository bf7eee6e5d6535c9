// The communication backend "thread", for tests: the ranks are threads of one process. Each rank can access all memory of
// the others, and collectives run the same steps as between the ranks of a node.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>

#include "comm/backend.hpp"
#include "comm/node/shared_communicator.hpp"
#include "comm/node/thread_group.hpp"
#include "comm/split_ranks.hpp"

namespace trainrt::comm::plugins {

namespace {

/// Treats all memory of this process as one segment: every rank can access it, because the ranks are threads.
class ProcessMemory : public Segments {
 public:
  std::optional<DataLocation> find(const void* data, std::size_t) const override {
    return DataLocation{DataLocation::Kind::direct, 0, reinterpret_cast<std::uintptr_t>(data)};
  }
  std::byte* at(const DataLocation& location) const override { return reinterpret_cast<std::byte*>(location.offset); }
};

std::vector<int> all_ranks(int size) {
  std::vector<int> ranks(static_cast<std::size_t>(size));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

class ThreadCommunicator : public SharedCommunicator {
 public:
  ThreadCommunicator(std::shared_ptr<ThreadGroup> group, int rank)
      : SharedCommunicator(group->board_of(rank), all_ranks(group->size()), group->size(), group->timeout_seconds()),
        group_(std::move(group)) {}
  std::string_view name() const override { return "thread"; }

  /// Splits the ranks into one group per color. The first rank of each color creates the ThreadGroup and passes its address
  /// to the other ranks of that color.
  std::unique_ptr<Communicator> split(int color, int key) override {
    const auto members = ranks_of_color(*this, color, key);
    const auto self = std::ranges::find(members, rank());
    std::shared_ptr<ThreadGroup> group;
    if (self == members.begin() && !members.empty())
      group = std::make_shared<ThreadGroup>(static_cast<int>(members.size()), timeout_seconds());
    const auto mine = reinterpret_cast<std::uintptr_t>(&group);
    const auto all = all_gather(std::string_view(reinterpret_cast<const char*>(&mine), sizeof mine));
    if (!members.empty() && !group) {
      std::uintptr_t theirs = 0;
      std::memcpy(&theirs, all[static_cast<std::size_t>(members.front())].data(), sizeof theirs);
      group = *reinterpret_cast<const std::shared_ptr<ThreadGroup>*>(theirs);
    }
    barrier("split");
    if (members.empty()) return nullptr;
    return std::make_unique<ThreadCommunicator>(group, static_cast<int>(self - members.begin()));
  }

 protected:
  const Segments& segments() const override { return segments_; }

 private:
  std::shared_ptr<ThreadGroup> group_;
  ProcessMemory segments_;
};

}  // namespace

extern const Backend thread;
const Backend thread{.name = "thread",
                     .help = "ranks that are threads of one process (tests)",
                     .preference = 40,
                     .why_unavailable = [](const launch::Launch& launch) -> std::string {
                       return dynamic_cast<const ThreadLaunch*>(&launch) != nullptr ? "" : "the ranks are processes";
                     },
                     .open = [](launch::Launch& launch, const CommOptions&) -> std::unique_ptr<Communicator> {
                       const auto& threads = dynamic_cast<ThreadLaunch&>(launch);
                       return std::make_unique<ThreadCommunicator>(threads.group(), launch.world().rank);
                     }};

}  // namespace trainrt::comm::plugins
