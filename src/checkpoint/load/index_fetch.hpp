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

/// The byte range [begin, end) of a file.
struct ByteRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// Checks the index of a part (the bytes that one rank wrote into a shard file) against the manifest. Throws Error naming
/// the file `path` unless:
/// - the index belongs to the rank of `part`,
/// - its blocks are inside the HDF5 part of the file and do not overlap,
/// - its blocks contain all its tensors and values.
/// Sorts the blocks of the index and returns the byte ranges that they cover, with adjacent ranges merged. Pure function.
std::vector<ByteRange> check_part(Index& index, const ShardRecord& shard, const PartRecord& part, const std::string& path);

/// Checks that the byte ranges that the ranks wrote into a shard file cover each byte of [0, bytes) exactly once. Throws
/// Error naming the file `path` if they do not. Pure function.
void check_tiling(std::vector<ByteRange> ranges, std::uint64_t bytes, const std::string& path);

/// Collects the indices of all parts of a checkpoint (a part is the bytes that one rank wrote into a shard file), which
/// the caller fetches one after the other. Checks that the indices are consistent, and adds their blocks to a read
/// plan.
///
/// Each part has a home: the process that reads and verifies all blocks of the part. Of n readers, reader r is the home
/// of the parts r, r + n, ... The readers together therefore read every block.
class IndexFetch {
 public:
  /// `reader` is the number of this process among `readers` processes. `manifest` and `plan` must outlive the object. The
  /// boxes to load must already be declared in the plan.
  IndexFetch(std::string checkpoint_dir, const Manifest& manifest, ReadPlan& plan, int reader, int readers);

  const std::vector<PartRef>& parts() const { return parts_; }
  /// Returns whether this process reads and verifies all blocks of part `number`.
  bool is_home(std::size_t number) const { return number % readers_ == reader_; }

  /// Parses and adds the index of part `number` (the bytes that one rank wrote into a shard file), and returns the
  /// parsed index. The caller must have verified the digest of `text`, and must add the parts in order. Throws Error if
  /// the index is invalid or inconsistent with the manifest or with earlier indices.
  Index add(std::size_t number, const std::string& text);

  /// Returns one line for each inconsistency between the parts of the checkpoint. The work is divided: each of n readers
  /// checks every n-th shard file for gaps and overlaps. Must be called after all parts were added.
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
  // for each shard file that this reader checks: the byte ranges that the blocks of the ranks cover
  std::map<std::size_t, std::vector<ByteRange>> ranges_;
};

}  // namespace trainrt::checkpoint
