#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "checkpoint/format/index.hpp"
#include "checkpoint/format/manifest.hpp"
#include "checkpoint/load/contents.hpp"
#include "checkpoint/load/read_plan.hpp"
#include "checkpoint/part.hpp"

namespace trainrt::checkpoint {

/// Bytes [begin, end) of a file.
struct ByteRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// Checks the index of a part against the manifest: it belongs to the rank of `part`, its blocks are inside the HDF5 part
/// and do not overlap, and its blocks contain all entries. Sorts the blocks and returns the ranges that they cover, with
/// neighbours merged. Throws Error naming `path` if a check fails. Pure function.
std::vector<ByteRange> check_part(Index& index, const ShardRecord& shard, const PartRecord& part, const std::string& path);

/// Throws Error naming `path` unless the ranges of all parts of a file cover each byte of [0, bytes) exactly once. Pure
/// function.
void check_tiling(std::vector<ByteRange> ranges, std::uint64_t bytes, const std::string& path);

/// Collects the indices of all parts of a checkpoint, fetched one after the other, checks that they are consistent, and
/// adds their blocks to a read plan. Reader r of n is the home of the parts r, r + n, ... and reads all their blocks, so
/// that the readers together read every block.
class IndexFetch {
 public:
  /// `manifest` and `plan` must outlive the object; the wanted boxes must already be declared in the plan.
  IndexFetch(std::string checkpoint_dir, const Manifest& manifest, ReadPlan& plan, int reader, int readers);

  const std::vector<PartRef>& parts() const { return parts_; }
  /// Returns whether this reader is the home of the part with that number.
  bool is_home(std::size_t number) const { return number % readers_ == reader_; }

  /// Adds the text of the index of a part, after its digest was verified, and returns the parsed index. Parts must be
  /// added in order. Throws Error if the index is inconsistent.
  Index add(std::size_t number, const std::string& text);

  /// Returns inconsistencies between the parts. Each reader checks the tiling of every n-th file. Must be called after all
  /// parts were added.
  std::vector<std::string> findings() const;

  const Contents& contents() const { return contents_; }

 private:
  std::string path_of(std::size_t shard) const { return checkpoint_dir_ + "/" + manifest_.shards[shard].name; }
  bool checks_tiling_of(std::size_t shard) const { return shard % readers_ == reader_; }

  std::string checkpoint_dir_;
  const Manifest& manifest_;
  ReadPlan& plan_;
  std::size_t reader_;
  std::size_t readers_;
  std::vector<PartRef> parts_;
  Contents contents_;
  std::map<std::size_t, std::vector<ByteRange>> ranges_;  // by shard, for the shards that this reader checks
};

}  // namespace trainrt::checkpoint
