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

/// Waits until a checkpoint directory that another node created becomes visible, which can take a while on network file
/// systems. Calls `warn` if that takes more than a second. Throws DirectoryNotSeen after `limit_s` seconds;
/// io::is_transient() is true for it if the run directory is not visible either. Throws Error at once if `parent_was_seen`
/// and only the parent is gone, because another attempt has removed it.
void await_directory(const std::string& path, bool parent_was_seen, double limit_s,
                     const std::function<void(const std::string&)>& warn);

/// A file of a checkpoint that is being written by several threads. The first thread that needs the file creates it.
class Output {
 public:
  Output(const std::string& directory, const std::string& name, std::uint64_t expected_bytes)
      : path_(directory + "/" + name), run_dir_(run_of(run_of(directory))), expected_bytes_(expected_bytes) {}

  /// Returns the open file. Thread-safe.
  const io::PositionalFile& file() {
    const std::lock_guard lock(mutex_);
    if (!file_) io::retried_in(run_dir_, [&] { file_ = io::PositionalFile::create(path_, expected_bytes_); });
    return *file_;
  }
  /// Makes the file durable and closes it. Must be called by one thread at a time; later calls do nothing.
  void finish() {
    if (std::exchange(is_finished_, true)) return;
    file().sync();
    file_->close();
  }
  /// Registers a block that will be written. The thread that adds blocks counts as one, from construction on. Thread-safe.
  void begin_part() { ++open_; }
  /// Ends a registration; returns true for the last one. Thread-safe.
  bool end_part() { return --open_ == 0; }

  /// Reads all blocks again and throws Error if one does not match its digest. Calls `read` with the bytes of each block.
  void read_back(const std::function<void(std::uint64_t bytes)>& read) const;

  const std::string& path() const { return path_; }

  std::vector<BlockRecord> blocks;  ///< one per block; each thread writes only its own

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
