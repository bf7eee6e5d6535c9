#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <trainrt/state.hpp>

#include "checkpoint/save/directories.hpp"
#include "checkpoint/save/phases.hpp"
#include "checkpoint/save/results.hpp"
#include "checkpoint/save/shard_plan.hpp"
#include "core/output/error_message.hpp"
#include "device/copier.hpp"
#include "io/files/block_pool.hpp"
#include "io/files/workers.hpp"

namespace trainrt::checkpoint {

/// The configuration of a ShardWriter.
struct WriterOptions {
  std::uint64_t staging_bytes = std::uint64_t{1} << 30;  ///< maximum staging memory of this rank
  int threads = 4;                                       ///< number of background threads
  bool read_back = false;  ///< read all bytes again, past the page cache, before they count as written
  double stuck_s = 1800;   ///< maximum seconds without a byte written
  double visible_s = 30;   ///< maximum seconds until a directory created by rank 0 is visible
  Observer observer = [](Phase) {};
  std::function<void(const std::string&)> warn = [](const std::string&) {};  ///< called with warnings, from any thread
  Explain explain = message_of;                                              ///< makes the messages of failed saves
  std::string staging_limit;  ///< name of the option that sets staging_bytes, for messages; "" if there is none
};

/// Writes one rank's part of checkpoints, one checkpoint at a time. begin() copies the state into staging memory, block by
/// block in the order of the file, and digests the copy; background threads write each block as soon as it is copied. If
/// staging memory is full, begin() waits for the disk.
///
/// GPUs copy their tensors into pinned staging memory on separate streams, and background threads digest the copies. A copy
/// contains all work that the default streams were given before begin(), and no later work.
class ShardWriter {
 public:
  explicit ShardWriter(WriterOptions options);
  ~ShardWriter();

  /// Starts writing a part and returns when the state and the files in `given` may change. The previous part must be
  /// sealed. wait() returns failures.
  void begin(std::shared_ptr<const ShardPlan> plan, const State& state, const DirectoryFiles& given,
             const std::string& directory);
  /// Throws DirectoryFileUnreadable if begin() could not read a file of a directory. Unlike a failure of the storage, that
  /// must end training.
  void require_readable() const;
  /// Returns whether the last part is durable or has failed; true before the first.
  bool is_sealed() const;
  /// Waits until the last part is sealed and returns its result. Throws SaveStalled if no byte is written for stuck_s
  /// seconds.
  Sealed wait();
  /// Allocates the staging memory that a save with this plan needs, in the background, so that the first save does not wait
  /// for it. Failures are ignored; the save tries again.
  void prepare(const ShardPlan& plan, const State& state);

  /// Returns the background threads, for tasks after a write.
  io::Workers& workers() { return workers_; }

 private:
  class Job;
  io::Block staging_block(const Job& job, std::size_t bytes);
  void take_memory(std::size_t blocks, std::uint64_t bytes);
  WriterOptions options_;
  std::atomic<bool> pins_{false};         // pin staging memory, because a state had tensors on GPUs
  bool warned_of_wait_ = false;           // a wait for the disk was reported
  std::atomic<bool> parent_seen_{false};  // this rank has seen the private directory
  io::BlockPool pool_;
  device::Copier copier_;  // destroyed before the memory that it has pinned
  std::shared_ptr<Job> job_;
  io::Workers workers_;  // destroyed first, as its tasks use the other members
};

}  // namespace trainrt::checkpoint
