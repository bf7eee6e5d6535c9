#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint/format/index.hpp"
#include "checkpoint/format/names.hpp"
#include "io/files/positional_file.hpp"
#include "io/storage_retry.hpp"

namespace trainrt::checkpoint {

/// Waits until the directory `path`, which another node created for a checkpoint, is visible on this node. On network
/// file systems, this can take several seconds. Calls `warn` if the wait takes more than a second. Errors:
/// - Throws DirectoryNotSeen after `limit_s` seconds. io::is_transient() returns true for this error if the run
///   directory is not visible either.
/// - If `parent_was_seen`, the parent of `path` was visible before. If it is gone, and the run directory exists,
///   another attempt of the run has removed it: throws Error at once.
void await_directory(const std::string& path, bool parent_was_seen, double limit_s,
                     const std::function<void(const std::string&)>& warn);

/// A file of a checkpoint that several threads write, block by block. The first thread that needs the file creates it.
class Output {
 public:
  Output(const std::string& directory, const std::string& name, std::uint64_t expected_bytes)
      : path_(directory + "/" + name), run_dir_(run_of(run_of(directory))), expected_bytes_(expected_bytes) {}

  /// Returns the open file. The first call creates the file. Thread-safe.
  const io::PositionalFile& file() {
    const std::lock_guard lock(mutex_);
    if (!file_) io::retried_in(run_dir_, [&] { file_ = io::PositionalFile::create(path_, expected_bytes_); });
    return *file_;
  }
  /// Makes the file durable (fsync) and closes it. Creates the file if file() was never called. Calls after the first do
  /// nothing. Must be called by one thread at a time.
  void finish() {
    if (std::exchange(is_finished_, true)) return;
    file().sync();
    file_->close();
  }
  /// Increments the number of unfinished writes of this file. Must be called before each block is submitted to a background
  /// thread. The number is 1 after construction, for the thread that submits the blocks. Thread-safe.
  void begin_part() { ++open_; }
  /// Decrements the number of unfinished writes of this file, after a block was written or after all blocks were submitted.
  /// Returns true if no write is left, so that the caller can call finish(). Thread-safe.
  bool end_part() { return --open_ == 0; }

  /// Reads all blocks of the file again, past the page cache. Throws Error if a block does not match its digest. Calls
  /// `read` with the number of bytes after each block.
  void read_back(const std::function<void(std::uint64_t bytes)>& read) const;

  const std::string& path() const { return path_; }

  /// Byte ranges and checksums of the file's blocks. Each thread changes only the elements of the blocks that it writes.
  std::vector<BlockRecord> blocks;

 private:
  std::string path_;
  std::string run_dir_;
  std::uint64_t expected_bytes_;
  std::mutex mutex_;
  std::optional<io::PositionalFile> file_;
  std::atomic<int> open_{1};
  bool is_finished_ = false;
};

}  // namespace trainrt::checkpoint
