#pragma once
#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "checkpoint/format/manifest.hpp"
#include "checkpoint/load/read_plan.hpp"

namespace trainrt::checkpoint {

/// Called with the number of bytes verified so far and in total. Called by one thread at a time, not always the same
/// thread.
using OnProgress = std::function<void(std::uint64_t done_bytes, std::uint64_t all_bytes)>;

/// Options and callbacks of read_blocks().
struct BlockReading {
  enum class Blocks { all, wanted };
  int threads = 2;              ///< number of threads that digest and copy; three times as many threads read
  Blocks blocks = Blocks::all;  ///< wanted: skip blocks that nothing is copied from
  bool copy = true;             ///< false: verify only
  bool to_gpus = false;         ///< a destination is GPU memory
  std::function<void(std::uint64_t bytes)> read;  ///< called after each block with its size, from any thread
  /// Called with the exception if a file cannot be read, before it becomes a line of the result; from any thread.
  std::function<void(const std::exception& error)> failed = {};
};

/// Reads blocks of shard files with several threads, verifies their digests, and copies the wanted bytes of intact blocks.
/// Separate threads read and digest, so that the disk does not wait for digests. At most 4 * `threads` blocks are in
/// memory. Files are read one after the other; a file with one block or at most 256 KiB is read by the calling thread, and
/// no threads are started if all files are like that. Returns one line for each range of damaged bytes and for each file
/// that cannot be read; the remaining blocks of such a file are skipped. Throws CannotRead, and no other errors caused by a
/// file.
std::vector<std::string> read_blocks(const std::string& checkpoint_dir, const Manifest& manifest,
                                     const std::vector<ReadPlan::FileReads>& files, const BlockReading& reading);

}  // namespace trainrt::checkpoint
