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
struct Run {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// The index of a part, held against its place: it is of the rank that the manifest says, its blocks lie inside the HDF5
/// part and do not overlap, and each of its entries lies in its blocks. Sorts the blocks. Returns what they cover, as few
/// runs as it takes. What does not hold throws Error naming `path`. Pure.
std::vector<Run> check_part(Index& index, const ShardRecord& shard, const PartRecord& part, const std::string& path);

/// Throws Error naming `path` unless the runs of all parts of a file tile [0, bytes): no gap, nothing twice. Pure.
void check_tiling(std::vector<Run> runs, std::uint64_t bytes, const std::string& path);

/// Takes in the indices of a checkpoint, one after the other: what it holds, what one of several readers has to read, and
/// whether all of it fits together. Reader r of n is at home in the parts r, r + n, ...: it reads all their blocks, so that
/// the readers together read every block.
class Survey {
 public:
  /// All that is referred to must outlive the survey; the plan knows what is wanted already.
  Survey(std::string checkpoint_dir, const Manifest& manifest, ReadPlan& plan, int reader, int readers);

  const std::vector<PartRef>& parts() const { return parts_; }
  bool is_home(std::size_t number) const { return number % readers_ == reader_; }

  /// The text of the index of that part, which has the right digest. Parts come in order. Error if it does not fit.
  /// Returns the index for whoever keeps it.
  Index add(std::size_t number, const std::string& text);

  /// All parts were added: what is wrong with them together. Each reader tells of the files that it is at home in.
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
  std::map<std::size_t, std::vector<Run>> runs_;  // of the shards whose tiling is checked here
};

}  // namespace trainrt::checkpoint
