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

/// Configuration of a ShardWriter, which writes one rank's bytes of a checkpoint.
struct WriterOptions {
  std::uint64_t staging_bytes = std::uint64_t{1} << 30;  ///< maximum staging memory of this rank, in bytes
  int threads = 4;                                       ///< number of background threads that write
  bool read_back = false;  ///< read all bytes again, past the page cache, and verify them before the commit
  double stuck_s = 1800;   ///< timeout in seconds: a save fails if no byte is written for that long
  double visible_s = 30;   ///< timeout in seconds for a directory created by rank 0 to become visible on this node
  Observer observer = [](Phase) {};
  std::function<void(const std::string&)> warn = [](const std::string&) {};  ///< called with warnings, from any thread
  Explain explain = message_of;  ///< converts an exception into the message of a failed save
  std::string staging_limit;     ///< name of the option that sets staging_bytes, for messages; "" if no option sets it
};

/// Writes one rank's part of checkpoints, one checkpoint at a time. A rank's part is the bytes that this rank writes into a
/// shard file, plus the user's files that this rank stores.
///
/// begin() copies the state into staging memory, block by block in the order of the file, and computes the digests of the
/// copy. Background threads write each block as soon as it is copied. If staging memory is full, begin() waits for the
/// disk.
///
/// Tensors in GPU memory are copied into pinned staging memory on separate streams, and background threads compute the
/// digests. A copy contains the results of all kernels that were enqueued on the GPUs' default streams before begin(), and
/// of no later kernels.
class ShardWriter {
 public:
  explicit ShardWriter(WriterOptions options);
  ~ShardWriter();

  /// Starts to write this rank's part of the checkpoint in `directory`. Returns as soon as the caller may change the state
  /// and the files in `given`. The previous part must be sealed (is_sealed()). wait() reports failures to write.
  void begin(std::shared_ptr<const ShardPlan> plan, const State& state, const DirectoryFiles& given,
             const std::string& directory);
  /// Throws DirectoryFileUnreadable if begin() could not read a file in a directory that was passed to report(). This
  /// error must end training, unlike an error of the run's storage.
  void require_readable() const;
  /// Returns whether the write that the last begin() started is complete: all bytes are durable, or a write has failed.
  /// True before the first begin().
  bool is_sealed() const;
  /// Waits until the write that the last begin() started is complete (is_sealed()), and returns its result. Throws
  /// SaveStalled if no byte is written for WriterOptions::stuck_s seconds.
  Sealed wait();
  /// Allocates the staging memory for a save with `plan`, in a background thread, so that the first save does not wait for
  /// the allocation. Failures are ignored, because begin() allocates missing memory.
  void prepare(const ShardPlan& plan, const State& state);

  /// Returns the pool of background threads, so that the caller can submit tasks that follow a write, such as the commit.
  io::Workers& workers() { return workers_; }

 private:
  class Job;
  io::Block staging_block(const Job& job, std::size_t bytes);
  void take_memory(std::size_t blocks, std::uint64_t bytes);
  WriterOptions options_;
  std::atomic<bool> pins_{false};         // true: pin new staging memory, because a state had tensors on GPUs
  bool warned_of_wait_ = false;           // true after a warning that begin() waits for the disk
  std::atomic<bool> parent_seen_{false};  // the parent of the checkpoint directory was visible on this rank
  io::BlockPool pool_;                    // staging memory
  device::Copier copier_;  // declared after pool_, so that it is destroyed before the memory that it has pinned
  std::shared_ptr<Job> job_;
  io::Workers workers_;  // last member, so that it is destroyed first: its tasks use the other members
};

}  // namespace trainrt::checkpoint
