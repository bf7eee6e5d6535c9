#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <trainrt/state.hpp>
#include <utility>
#include <vector>

#include "checkpoint/format/index.hpp"
#include "checkpoint/load/box.hpp"

namespace trainrt::checkpoint {

/// The memory that a box is read into, contiguous and row-major.
struct Destination {
  std::byte* at = nullptr;
  int gpu = -1;  ///< number of the GPU that owns the memory; -1: host memory
};

/// A copy from a block to a destination.
struct BlockCopy {
  std::shared_ptr<const BoxCopy> copy;
  std::uint64_t at = 0;  ///< position of the source box in the file
  Destination to;
};

/// A block to read and verify, and the copies from it.
struct BlockRead {
  BlockRecord block;
  std::vector<BlockCopy> copies;
};

/// Lists the blocks of a checkpoint that one process reads, and the copies from them. The caller first declares the wanted
/// boxes and values, then adds the indices of all parts, then calls finish(). The size grows with the wanted boxes and with
/// the blocks, not with ranks times tensors. The destinations must outlive the reading.
class ReadPlan {
 public:
  /// Wants a box of a replicated or sharded tensor. `shared` declares that other ranks read it, too.
  void want(const std::string& name, std::size_t element_bytes, Box box, Destination to, bool shared);
  /// Wants a box of the per_rank tensor that rank `writer` wrote.
  void want_own(const std::string& name, std::size_t element_bytes, Box box, int writer, Destination to);
  /// Wants the bytes of a value. `to` is resized when the index with the value is added.
  void want_value(const std::string& name, std::string& to);

  /// An index, or some of its entries.
  struct Entries {
    std::size_t shard = 0;
    int rank = 0;
    std::span<const IndexEntry> tensors, values;
    std::span<const BlockRecord> blocks;
  };
  /// Adds the blocks of a part with wanted bytes; all its blocks if `all_blocks`. The blocks must be sorted and contain the
  /// entries, as after check_part(). Entries with another shape or type than the wanted box are ignored.
  void add(const Entries& entries, bool all_blocks);

  /// Returns the names of tensors with wanted boxes that the parts do not cover. Must be called after all parts were
  /// added.
  std::vector<std::string> uncovered() const;

  /// Blocks of one file that are read with the same caching, sorted by position.
  struct FileReads {
    std::size_t shard = 0;
    bool shared = false;  ///< other ranks read them, too
    std::vector<BlockRead> blocks;
  };
  /// Returns the blocks to read and removes them from the plan.
  std::vector<FileReads> finish();

 private:
  struct WantedBox {
    std::string name;
    std::size_t element_bytes = 0;
    Box box;
    int writer = -1;  // -1: any rank
    bool shared = false;
    Destination to;
    std::uint64_t missing_bytes = 0;
  };
  struct PartCopies {  // from one part
    std::vector<BlockCopy> copies;
    std::vector<bool> shared;
  };
  void add_target(WantedBox target);
  void find_tensor(const IndexEntry& entry, int rank, PartCopies& wanted);
  void find_value(const IndexEntry& entry, PartCopies& wanted);

  std::multimap<std::string, WantedBox> targets_;
  std::map<std::string, std::string*> values_;
  std::map<std::pair<std::size_t, bool>, std::vector<BlockRead>> reads_;  // by (shard, shared)
};

}  // namespace trainrt::checkpoint
