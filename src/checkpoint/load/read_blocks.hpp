#pragma once
#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "checkpoint/format/manifest.hpp"
#include "checkpoint/load/read_plan.hpp"

namespace trainrt::checkpoint {

/// So many bytes are read and checked, of so many. Called by one thread at a time, not always the same.
using Progress = std::function<void(std::uint64_t done_bytes, std::uint64_t all_bytes)>;

struct BlockReading {
  int threads = 2;                                   ///< that digest and copy; three times as many read
  enum class What { all, wanted } what = What::all;  ///< wanted: blocks that nothing is copied from are left out
  bool copy = true;                                  ///< false: all is checked only
  bool to_gpus = false;                              ///< something goes into memory of GPUs
  std::function<void(std::uint64_t bytes)> read;     ///< a block has been dealt with; any thread calls
  /// A file could not be read, which becomes one of the lines that are returned; any thread calls.
  std::function<void(const std::exception& error)> failed = {};
};

/// Reads blocks by several threads, four for each of `threads` in memory, checks each against its digest, and copies what
/// is wanted of those that are whole. Some threads only read, so that the disk never waits for a digest. Files follow each
/// other; one of which a single block or little is read is the caller's own to read, and if all are such no thread is
/// started.
/// Returns what is not whole: damaged bytes, neighbours together, and files that cannot be read, of which the rest is not
/// tried. Throws nothing that a file could cause.
std::vector<std::string> read_blocks(const std::string& checkpoint_dir, const Manifest& manifest,
                                     const std::vector<ReadPlan::FileReads>& files, const BlockReading& reading);

}  // namespace trainrt::checkpoint
