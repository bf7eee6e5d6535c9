#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <trainrt/state.hpp>
#include <vector>

#include "checkpoint/save/directories.hpp"
#include "checkpoint/save/phases.hpp"
#include "checkpoint/save/results.hpp"
#include "checkpoint/save/shard_plan.hpp"
#include "core/output/error_message.hpp"
#include "device/copier.hpp"
#include "io/files/block_pool.hpp"
#include "io/files/workers.hpp"

namespace trainrt::checkpoint {

struct WriterOptions {
  std::uint64_t staging_bytes = std::uint64_t{1} << 30;
  int threads = 4;
  bool read_back = false;  ///< read everything again, past the page cache, before it counts as written
  double stuck_s = 1800;   ///< so long without a byte written is an error
  double visible_s = 30;   ///< so long may a directory take to be seen here
  Observer observer = [](Phase) {};
  std::function<void(const std::string&)> say = [](const std::string&) {};  ///< what the user should know of waits
  Explain explain = message_of;                                             ///< words errors in what becomes of a save
  std::string staging_limit;  ///< what the user knows staging_bytes as, for messages; "": nothing
};

/// Writes one rank's part of checkpoints, one after the other. begin() copies the state into staging memory, block by block
/// as the blocks lie in the file, and digests what it copies while that is in the cache; background threads write each
/// block as soon as it is copied. If staging memory is full, begin() waits for the disk. Tensors on GPUs are copied by
/// these, beside what else they do, into pinned staging memory, and the background threads digest them: what the default
/// streams have been given before begin() is in the copy, and nothing that comes after it.
class ShardWriter {
 public:
  explicit ShardWriter(WriterOptions options);
  ~ShardWriter();

  /// Returns when the state, and the files that are given besides, may change. The earlier part must be sealed. Failures
  /// show in wait().
  void begin(std::shared_ptr<const ShardPlan> plan, const State& state, const Given& given, const std::string& directory);
  /// After begin(): GivenUnreadable if a given file could not be read. That is not the storage's failure, which training
  /// survives.
  void require_readable() const;
  bool is_sealed() const;
  /// Waits for the part that was begun last. Throws SaveStalled if no byte is written for stuck_s.
  Sealed wait();
  /// Takes the staging memory that such a plan needs, in the background, so that no save has to wait for the system to find
  /// it. What cannot be had now a save will ask for.
  void prepare(const ShardPlan& plan, const State& state);

  /// For tasks that follow a write.
  io::Workers& workers() { return workers_; }

 private:
  class Job;
  io::Block staging_block(const Job& job, std::size_t bytes);
  void take_memory(std::size_t blocks, std::uint64_t bytes);
  WriterOptions options_;
  std::atomic<bool> pins_{false};         // some state had tensors on GPUs
  bool said_to_wait_ = false;             // for the disk
  std::atomic<bool> parent_seen_{false};  // this rank has seen the directory that checkpoints are written in
  io::BlockPool pool_;
  device::Copier copier_;  // ends before the memory that it has pinned
  std::shared_ptr<Job> job_;
  io::Workers workers_;  // last: ends first, while all that its tasks use is there
};

}  // namespace trainrt::checkpoint
