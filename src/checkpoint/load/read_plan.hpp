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

/// Where a box goes: its memory, contiguous and row-major.
struct Destination {
  std::byte* at = nullptr;
  int gpu = -1;  ///< whose memory it is; -1: the host's
};

/// What of a block goes where.
struct BlockCopy {
  std::shared_ptr<const BoxCopy> copy;
  std::uint64_t at = 0;  ///< where the copy's source lies in the file
  Destination to;
};

/// A block that is read and checked, and what is copied from it.
struct BlockRead {
  BlockRecord block;
  std::vector<BlockCopy> copies;
};

/// Which blocks of a checkpoint one process reads, and where their bytes go. It is made from the indices of all parts, one
/// at a time, and grows with what is wanted and with the blocks, not with ranks times tensors.
class ReadPlan {
 public:
  // What is wanted. Memory stays the caller's and must outlive the reading.

  /// A box of a replicated or sharded tensor. `shared`: other ranks read it too.
  void want(const std::string& name, std::size_t element_bytes, Box box, Destination to, bool shared);
  /// A box of the per_rank tensor that that rank wrote.
  void want_own(const std::string& name, std::size_t element_bytes, Box box, int writer, Destination to);
  /// The bytes of a value: the text gets their number when its index is added.
  void want_value(const std::string& name, std::string& to);

  /// An index, or some of its entries.
  struct Entries {
    std::size_t shard = 0;
    int rank = 0;
    std::span<const IndexEntry> tensors, values;
    std::span<const BlockRecord> blocks;
  };
  /// Adds what is wanted of a part: its blocks are sorted, its entries lie in them (check_part()). whole: all its blocks
  /// are read, wanted or not. Entries of another shape than what is wanted are left.
  void add(const Entries& entries, bool whole);

  /// All parts are added: names of tensors of which too little was found.
  std::vector<std::string> uncovered() const;

  /// Blocks of one file, by their place, which are read in one way.
  struct FileReads {
    std::size_t shard = 0;
    bool shared = false;  ///< other ranks read them too
    std::vector<BlockRead> blocks;
  };
  std::vector<FileReads> finish();

 private:
  struct Target {
    std::string name;
    std::size_t element_bytes = 0;
    Box box;
    int writer = -1;  // -1: any
    bool shared = false;
    Destination to;
    std::uint64_t missing_bytes = 0;
  };
  struct Wanted {  // of one part
    std::vector<BlockCopy> copies;
    std::vector<bool> shared;
  };
  void add_target(Target target);
  void find_tensor(const IndexEntry& entry, int rank, Wanted& wanted);
  void find_value(const IndexEntry& entry, Wanted& wanted);

  std::multimap<std::string, Target> targets_;
  std::map<std::string, std::string*> values_;
  std::map<std::pair<std::size_t, bool>, std::vector<BlockRead>> reads_;  // of (shard, shared)
};

}  // namespace trainrt::checkpoint
