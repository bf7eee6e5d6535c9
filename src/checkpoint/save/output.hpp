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

/// Returns when a checkpoint's directory is seen, which another node may have made a moment ago: it shows up late on
/// network file systems. More than a second is said. DirectoryNotSeen if it is not seen within the limit; of a kind that
/// may pass if the run directory is not there either: the storage is away. If only the directory around it is gone, and was
/// seen before, another attempt has taken it: an Error at once.
void await_directory(const std::string& path, bool parent_was_seen, double limit_s,
                     const std::function<void(const std::string&)>& say);

/// A file of the checkpoint, opened by the first thread that has bytes for it.
class Output {
 public:
  Output(const std::string& directory, const std::string& name, std::uint64_t expected_bytes)
      : path_(directory + "/" + name), run_dir_(run_of(run_of(directory))), expected_bytes_(expected_bytes) {}

  const io::PositionalFile& file() {
    const std::lock_guard lock(mutex_);
    if (!file_) io::retried_in(run_dir_, [&] { file_ = io::PositionalFile::create(path_, expected_bytes_); });
    return *file_;
  }
  /// Called by one thread at a time; once is enough.
  void finish() {
    if (std::exchange(is_finished_, true)) return;
    file().sync();
    file_->close();
  }
  /// One more block is on its way here. Who adds them counts as one.
  void begin_part() { ++open_; }
  /// True if that was the last one.
  bool end_part() { return --open_ == 0; }

  /// Error if it is not what was written. `read` hears of bytes that were read.
  void read_back(const std::function<void(std::uint64_t bytes)>& read) const;

  const std::string& path() const { return path_; }

  std::vector<BlockRecord> blocks;  ///< one a block that goes here; each thread fills in its own

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
