#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <trainrt/communicator.hpp>

#include "comm/node/announcer.hpp"
#include "comm/node/shared_segment.hpp"
#include "core/files/shared_file.hpp"

namespace trainrt::comm {

/// The shared memory segments ("windows") from which Communicator::allocate() has returned memory. A window stays mapped
/// until all ranks have released their slice of it, because other ranks may still reduce in its memory.
class NodeWindows : public Segments {
 public:
  Memory add(SharedSegment segment) {
    const auto at = static_cast<std::size_t>(segment.index) * segment.slice;
    auto* const mine = segment.memory.get() + at;
    // `given_back` is atomic, because the owner of the memory may release it on any thread.
    auto given_back = std::make_shared<std::atomic<bool>>(false);
    windows_.push_back({segment.memory, mine, segment.slice, given_back});
    auto end = [given_back, memory = std::move(segment.memory), file = segment.file] { given_back->store(true); };
    return Memory(mine, FileMemoryEnd{{*segment.file, at, segment.slice}, std::move(end)});
  }

  /// Unmaps the shared memory segments ("windows") that all ranks have released. Collective.
  void reclaim(Communicator& communicator) {
    std::string mine;
    for (const auto& window : windows_) mine += window.memory == nullptr || window.given_back->load() ? '1' : '0';
    for (const auto& theirs : communicator.all_gather(mine))
      for (std::size_t id = 0; id < mine.size(); ++id)
        if (theirs[id] == '0') mine[id] = '0';
    for (std::size_t id = 0; id < mine.size(); ++id)
      if (mine[id] == '1') windows_[id].memory.reset();
  }

  std::optional<DataLocation> find(const void* data, std::size_t bytes) const override {
    const auto* at = static_cast<const std::byte*>(data);
    for (std::uint32_t id = 0; id < windows_.size(); ++id) {
      const auto& window = windows_[id];
      if (window.memory == nullptr || window.given_back->load(std::memory_order_relaxed)) continue;
      if (at >= window.mine && at + bytes <= window.mine + window.slice)
        return DataLocation{DataLocation::Kind::direct, id, static_cast<std::uint64_t>(at - window.memory.get())};
    }
    return std::nullopt;
  }
  std::byte* at(const DataLocation& location) const override {
    return windows_[location.segment].memory.get() + location.offset;
  }

 private:
  struct NodeWindow {
    Memory memory;  ///< mapping of the window, from the slice of the node's first rank on; nullptr after it was unmapped
    std::byte* mine = nullptr;
    std::size_t slice = 0;
    std::shared_ptr<std::atomic<bool>> given_back;
  };
  std::vector<NodeWindow> windows_;
};

}  // namespace trainrt::comm
