#pragma once
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <trainrt/error.hpp>

#include "checkpoint/format/names.hpp"
#include "checkpoint/part.hpp"
#include "checkpoint/save/output.hpp"
#include "checkpoint/save/shard_writer.hpp"
#include "checkpoint/save/stall_check.hpp"
#include "io/files/digest.hpp"
#include "io/files/file.hpp"
#include "io/storage_error.hpp"
#include "io/storage_retry.hpp"

namespace trainrt::checkpoint {

/// Writes one rank's part of one checkpoint: its bytes of the shard file, and the user's files that this rank stores.
/// The training thread copies the state. Background tasks write the copies. The last task writes the index and makes
/// all files durable (seal()).
class ShardWriter::Job : public std::enable_shared_from_this<Job> {
 public:
  Job(ShardWriter& writer, std::shared_ptr<const ShardPlan> plan, std::string directory)
      : writer_(writer), plan_(std::move(plan)), directory_(std::move(directory)) {
    outputs_.push_back(std::make_unique<Output>(directory_, plan_->file, plan_->file_bytes));
    outputs_.front()->blocks.resize(plan_->blocks.size());
    result_.file_bytes = plan_->file_bytes;
  }

  // --- functions called on the training thread; stage() is defined in shard_staging.cpp ---

  /// Copies the state, its files and the files in `given` into staging memory, and submits tasks that write the copies.
  void stage(const State& state, const DirectoryFiles& given);
  Sealed wait(double stuck_s) {
    std::unique_lock lock(mutex_);
    StallCheck check("writing '" + directory_ + "/" + plan_->file + "'", stuck_s, done_bytes_);
    while (!sealed_) {
      changed_.wait_for(lock, std::chrono::milliseconds(200));
      if (!sealed_) check.require_progress(done_bytes_);
    }
    return result_;
  }
  bool is_sealed() const {
    const std::lock_guard lock(mutex_);
    return sealed_;
  }
  void require_readable() const {
    if (!unreadable_.empty()) throw DirectoryFileUnreadable(unreadable_);
  }
  std::uint64_t done_bytes() const { return done_bytes_; }

 private:
  /// A block that a background task will write, in staging memory or in the memory of a tensor with TensorEntry::steady.
  struct Staged {
    std::uint64_t at = 0;  ///< offset of the block in the file, in bytes
    std::span<const std::byte> bytes;
    std::string digest;     ///< digest of `bytes`; "": the background task must compute it
    device::Events copied;  ///< copies from GPUs into `bytes` that must be complete before the write
  };
  void stage_shard(const State& state);
  void stage_file(const FileEntry& entry);
  void stage_given(const DirectoryFile& file);
  void carry(const std::string& from, const State& state);
  std::string values_now(const State& state) const;
  /// Submits a background task that writes `staged` as block `number` of the file. The task holds `memory`, which owns the
  /// bytes of the block, until they are written.
  void submit(Output& output, std::size_t number, std::shared_ptr<const void> memory, Staged staged);

  Output& add_output(const std::string& name, std::uint64_t expected_bytes) {
    return *outputs_.emplace_back(std::make_unique<Output>(directory_, name, expected_bytes));
  }
  static std::size_t blocks_of(std::uint64_t bytes) {
    return static_cast<std::size_t>((bytes + block_bytes - 1) / block_bytes);
  }

  void await_copies(const device::Events& copies) const {
    device::wait_all(copies, writer_.options_.stuck_s, "copying the state from a GPU");
  }

  // --- functions called on background threads -------------------------------------------------------------------------

  void write(Output& output, BlockRecord& record, std::span<const std::byte> bytes) {
    if (record.digest.empty()) record.digest = io::digest_of(bytes);
    ensure_folder_of(output.path());
    io::retried_while_gone(run_of(run_of(directory_)),
                           [&] { output.file().write(record.at, bytes); });  // the first call of file() creates the file
    done_bytes_ += bytes.size();
  }

  /// Waits until the checkpoint directory is visible on this node, and creates in it the folder of the file `path`.
  /// Throws Error if another task of this job has failed.
  void ensure_folder_of(const std::string& path) {
    const std::lock_guard lock(folder_mutex_);
    // The message is never shown, because fail() keeps the message of the first failure.
    if (failed_) throw Error("another part of the checkpoint was not written");
    if (!directory_seen_)
      await_directory(directory_, writer_.parent_seen_, writer_.options_.visible_s, writer_.options_.warn);
    directory_seen_ = writer_.parent_seen_ = true;
    const auto folder = path.substr(0, path.rfind('/'));
    if (folder != directory_ && folders_.insert(folder).second) io::make_directories_below(directory_, folder);
  }

  /// Counts one task as done. Must be called at the end of every background task, and by the training thread after it
  /// has submitted all tasks. The last call writes the index and makes the files durable (seal()), on a background
  /// thread.
  void complete_one(bool on_train_thread) {
    if (--open_ > 0) return;
    if (on_train_thread)
      writer_.workers_.submit([job = shared_from_this()] { job->seal(); });
    else
      seal();
  }

  void seal() {
    attempt([&] {
      if (failed_) return;
      write_index();
      writer_.options_.observer(Phase::shard_written);
      for (const auto& output : outputs_) {
        ensure_folder_of(output->path());
        output->finish();
      }
      sync_folders();
      if (writer_.options_.read_back) {
        for (const auto& output : outputs_) output->read_back([this](std::uint64_t bytes) { done_bytes_ += bytes; });
      }
      writer_.options_.observer(Phase::shard_synced);
    });
    const std::lock_guard lock(mutex_);
    result_.failure = failure_;
    for (std::size_t i = 0; i < result_.files.size() && failure_.empty(); ++i)
      result_.files[i].digest = digest_of_blocks(outputs_[i + 1]->blocks);
    result_.files.insert(result_.files.end(), carried_.begin(), carried_.end());
    sealed_ = true;
    changed_.notify_all();
  }

  void write_index() {
    const auto text = index_text(plan_->rank, plan_->tensors_text, values_text_, outputs_.front()->blocks,
                                 static_cast<std::size_t>(plan_->index.bytes));
    ensure_folder_of(outputs_.front()->path());
    write_text(text, plan_->index.at);
    result_.part = {plan_->rank, plan_->index.at, plan_->index.bytes, io::digest_of(std::string_view(text))};
    done_bytes_ += text.size();
  }

  /// Writes `text` at offset `at` of the shard file, from an aligned buffer. All bytes of the file are thus written by
  /// direct I/O, through one file descriptor, so that only this descriptor needs an fsync.
  void write_text(const std::string& text, std::uint64_t at) {
    const auto block = writer_.pool_.take(text.size());
    for (std::size_t done = 0; done < text.size();) {
      const auto part = block.bytes().first(std::min(block.bytes().size(), text.size() - done));
      std::memcpy(part.data(), text.data() + done, part.size());
      io::retried_while_gone(run_of(run_of(directory_)), [&] { outputs_.front()->file().write(at + done, part); });
      done += part.size();
    }
  }

  void sync_folders() const {
    for (const auto& folder : folders_)
      for (auto path = folder; path != directory_; path.resize(path.rfind('/'))) io::sync_directory(path);
  }

  template <class Action>
  void attempt(Action&& action) {
    try {
      action();
    } catch (const DirectoryFileUnreadable& error) {
      unreadable_ = error.what();
      fail(unreadable_);
    } catch (const std::exception& error) {
      fail(writer_.options_.explain(error), io::is_transient(error), io::is_full(error));
    }
  }
  void fail(const std::string& why, bool is_transient = false, bool is_full = false) {
    const std::lock_guard lock(mutex_);
    if (failure_.empty()) {
      failure_ = why;
      result_.is_transient = is_transient;
      result_.is_full = is_full;
    }
    failed_ = true;
  }

  ShardWriter& writer_;
  std::shared_ptr<const ShardPlan> plan_;
  std::string directory_;
  std::vector<std::unique_ptr<Output>> outputs_;  // the shard file, then the user's files, in the order of result_.files
  std::vector<FileRecord> carried_;
  std::string unreadable_;
  std::string values_text_;
  std::atomic<int> open_{1};
  std::atomic<bool> failed_{false};
  std::atomic<std::uint64_t> done_bytes_{0};

  std::mutex folder_mutex_;
  bool directory_seen_ = false;
  std::set<std::string> folders_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::string failure_;
  bool sealed_ = false;
  Sealed result_;
};

}  // namespace trainrt::checkpoint
