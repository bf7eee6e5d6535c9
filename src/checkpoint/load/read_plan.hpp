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

/// The destination of a copy: memory that a box of a tensor or a value is read into, contiguous and row-major.
struct Destination {
  std::byte* at = nullptr;
  int gpu = -1;  ///< number of the GPU that owns the memory; -1: host memory
};

/// A copy of the bytes of one stored slab or value, from the blocks that contain it to a destination.
struct BlockCopy {
  std::shared_ptr<const BoxCopy> copy;
  std::uint64_t at = 0;  ///< offset of the source box in the shard file
  Destination to;
};

/// A block of a shard file that is to be read and verified, and the copies from it to memory.
struct BlockRead {
  BlockRecord block;
  std::vector<BlockCopy> copies;
};

/// Lists the blocks of a checkpoint that one process reads, and the copies from these blocks to memory. The caller first
/// declares the wanted boxes of tensors and values, then adds the indices of all parts of the checkpoint, then calls
/// finish(). The memory grows with the number of wanted boxes and of blocks, not with the product of ranks and tensors. The
/// destinations must outlive the reading.
class ReadPlan {
 public:
  /// Declares that a box of a replicated or sharded tensor is to be read. `shared`: other ranks read the same box, so the
  /// file is read through the page cache.
  void want(const std::string& name, std::size_t element_bytes, Box box, Destination to, bool shared);
  /// Declares that a box of a per_rank tensor is to be read, from the tensor that rank `writer` wrote.
  void want_own(const std::string& name, std::size_t element_bytes, Box box, int writer, Destination to);
  /// Declares that the stored bytes of a value are to be read into `to`. add() resizes `to` when it gets the index with
  /// the value.
  void want_value(const std::string& name, std::string& to);

  /// Input of add() for one part (the bytes that one rank wrote into a shard file): the index entries of some or all of
  /// its tensors and values, and all its blocks.
  struct Entries {
    std::size_t shard = 0;
    int rank = 0;
    std::span<const IndexEntry> tensors, values;
    std::span<const BlockRecord> blocks;
  };
  /// Adds the blocks of a part (the bytes that one rank wrote into a shard file) that contain wanted bytes, or all its
  /// blocks if `all_blocks` is true. The blocks must be sorted and contain the entries, as after check_part(). Entries
  /// whose shape or dtype does not match the wanted box are ignored.
  void add(const Entries& entries, bool all_blocks);

  /// Returns the names of the wanted tensors whose wanted box the added slabs do not cover: the checkpoint lacks some
  /// of their elements. Must be called after all parts were added.
  std::vector<std::string> uncovered() const;

  /// The blocks of one shard file that are read with the same page-cache policy, sorted by offset.
  struct FileReads {
    std::size_t shard = 0;
    bool shared = false;  ///< true if other ranks read these blocks, too: they are read through the page cache
    std::vector<BlockRead> blocks;
  };
  /// Returns the blocks to read, grouped by shard file, and removes them from the plan.
  std::vector<FileReads> finish();

 private:
  struct WantedBox {
    std::string name;
    std::size_t element_bytes = 0;
    Box box;
    int writer = -1;  // rank that wrote the per_rank tensor; -1: any rank
    bool shared = false;
    Destination to;
    std::uint64_t missing_bytes = 0;
  };
  struct PartCopies {  // copies from the blocks that one rank wrote
    std::vector<BlockCopy> copies;
    std::vector<bool> shared;
  };
  void add_target(WantedBox target);
  void find_tensor(const IndexEntry& entry, int rank, PartCopies& wanted);
  void find_value(const IndexEntry& entry, PartCopies& wanted);

  std::multimap<std::string, WantedBox> targets_;
  std::map<std::string, std::string*> values_;
  std::map<std::pair<std::size_t, bool>, std::vector<BlockRead>> reads_;  // blocks to read, by (shard file, shared)
};

}  // namespace trainrt::checkpoint
