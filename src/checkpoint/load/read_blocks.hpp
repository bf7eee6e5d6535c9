#pragma once
#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "checkpoint/format/manifest.hpp"
#include "checkpoint/load/read_plan.hpp"

namespace trainrt::checkpoint {

/// Progress callback: gets the number of bytes verified so far and the total number of bytes. It is called by one thread at
/// a time, but not always by the same thread.
using OnProgress = std::function<void(std::uint64_t done_bytes, std::uint64_t all_bytes)>;

/// Options and callbacks of read_blocks().
struct BlockReading {
  enum class Blocks { all, wanted };
  int threads = 2;              ///< number of threads that digest and copy blocks; three times as many other threads read
  Blocks blocks = Blocks::all;  ///< all: verify every block of the plan; wanted: skip blocks from which nothing is copied
  bool copy = true;             ///< false: only verify the blocks, copy nothing
  bool to_gpus = false;         ///< true if a destination of the copies is GPU memory
  std::function<void(std::uint64_t bytes)> read;  ///< called after each block with the size of the block; from any thread
  /// Called with the exception if a file cannot be read, on any thread, before the error is added to the result of
  /// read_blocks().
  std::function<void(const std::exception& error)> failed = {};
};

/// Reads blocks of a checkpoint's shard files with several threads, verifies their digests, and copies the wanted bytes of
/// intact blocks to their destinations.
/// - Some threads read and others digest, so that the disk does not wait for digests.
/// - At most 4 * `threads` blocks are in memory.
/// - Files are read one after the other. The calling thread reads a file with one block or with at most 256 KiB; threads
///   are started only for larger files.
///
/// Returns one line for each damaged byte range and for each file that cannot be read; the remaining blocks of such a file
/// are skipped. Throws CannotRead, and no other errors caused by a file.
std::vector<std::string> read_blocks(const std::string& checkpoint_dir, const Manifest& manifest,
                                     const std::vector<ReadPlan::FileReads>& files, const BlockReading& reading);

}  // namespace trainrt::checkpoint
