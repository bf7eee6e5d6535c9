#include "checkpoint/save/shard_writer.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <set>
#include <thread>

#include <trainrt/error.hpp>

#include "checkpoint/device_memory.hpp"
#include "checkpoint/format/names.hpp"
#include "checkpoint/other_files.hpp"
#include "checkpoint/part.hpp"
#include "checkpoint/save/output.hpp"
#include "checkpoint/save/shard_image.hpp"
#include "checkpoint/save/stall_check.hpp"
#include "checkpoint/value_bytes.hpp"
#include "io/digest.hpp"
#include "io/file.hpp"
#include "io/positional_file.hpp"
#include "io/storage_error.hpp"
#include "io/storage_retry.hpp"

namespace trainrt::checkpoint {

/// One rank's part of one checkpoint, on its way to the disk. Begun by the train thread, ended by the last task.
class ShardWriter::Job : public std::enable_shared_from_this<Job> {
 public:
  Job(ShardWriter& writer, std::shared_ptr<const ShardPlan> plan, std::string directory)
      : writer_(writer), plan_(std::move(plan)), directory_(std::move(directory)) {
    outputs_.push_back(std::make_unique<Output>(directory_, plan_->file, plan_->file_bytes));
    outputs_.front()->blocks.resize(plan_->blocks.size());
    result_.file_bytes = plan_->file_bytes;
  }

  // --- the train thread -------------------------------------------------------------------------------------------------

  void stage(const State& state) {
    attempt([&] {
      stage_shard(state);
      for (const auto& entry : state.files())
        if (entry.each_rank || plan_->rank == 0) stage_file(entry);
      values_text_ = values_now(state);
    });
    attempt([&] { await_copies(writer_.copier_.mark()); });  // in any case: they use the state and the staging memory
    writer_.options_.observer(Phase::staged);
    complete_one(true);
  }

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
  bool has_failed() const { return failed_; }
  std::uint64_t done_bytes() const { return done_bytes_; }

 private:
  void stage_shard(const State& state) {
    const ShardImage image(*plan_, state, writer_.copier_);
    writer_.pins_ = writer_.pins_ || image.on_gpus();
    writer_.copier_.follow_default_streams();
    for (std::size_t i = 0; i < plan_->blocks.size() && !failed_; ++i) {
      const auto& extent = plan_->blocks[i];
      auto block = std::make_shared<io::Block>(writer_.staging_block(*this, extent.bytes));
      const auto bytes = block->bytes().first(static_cast<std::size_t>(extent.bytes));
      Staged staged{extent.at, bytes};
      if (image.on_gpus()) {
        writer_.copier_.pin(block->bytes());
        staged.copied = image.copy(bytes, extent.at);
      } else {
        staged.digest = image.copy_and_digest(bytes, extent.at);
      }
      submit(*outputs_.front(), i, std::move(block), std::move(staged));
    }
  }

  void stage_file(const FileEntry& entry) {
    FileRecord record;
    record.name = file_name(entry, plan_->rank);
    record.rank = entry.each_rank ? plan_->rank : -1;
    io::FileReader reader(entry.path);
    auto& output = *outputs_.emplace_back(std::make_unique<Output>(directory_, record.name, 0));
    output.blocks.resize(static_cast<std::size_t>(reader.size() / block_bytes + 1));
    for (std::size_t i = 0; !failed_; ++i) {
      auto block = std::make_shared<io::Block>(writer_.staging_block(*this, block_bytes));
      const auto count = reader.read(block->bytes());
      if (count == 0) break;
      if (i == output.blocks.size()) throw Error("'" + entry.path + "' grew while it was copied into a checkpoint");
      submit(output, i, block, {record.bytes, block->bytes().first(count)});
      record.bytes += count;
    }
    output.blocks.resize(static_cast<std::size_t>((record.bytes + block_bytes - 1) / block_bytes));
    result_.files.push_back(std::move(record));
  }

  std::string values_now(const State& state) const {
    auto entries = plan_->values;
    for (std::size_t i = 0; i < entries.size(); ++i) entries[i].bytes = bytes_of(state.values()[i]).size();
    return entries_text(entries);
  }

  void await_copies(const device::Events& copies) const {
    device::wait_all(copies, writer_.options_.stuck_s, "copies of the state from a GPU have");
  }

  /// Bytes in staging memory, or on their way there from a GPU.
  struct Staged {
    std::uint64_t at = 0;  ///< of the file
    std::span<const std::byte> bytes;
    std::string digest;     ///< "": not made yet
    device::Events copied;  ///< what to wait for
  };

  void submit(Output& output, std::size_t number, std::shared_ptr<io::Block> block, Staged staged) {
    ++open_;
    output.blocks[number] = {staged.at, staged.bytes.size(), std::move(staged.digest)};
    writer_.workers_.submit([job = shared_from_this(), &output, number, block = std::move(block), bytes = staged.bytes,
                             copied = std::move(staged.copied)]() mutable {
      job->attempt([&] {
        job->await_copies(copied);
        if (!job->failed_) job->write(output, output.blocks[number], bytes);
      });
      block.reset();
      job->complete_one(false);
    });
  }

  // --- background threads ---------------------------------------------------------------------------------------------

  void write(Output& output, BlockRecord& record, std::span<const std::byte> bytes) {
    if (record.digest.empty()) record.digest = io::digest_of(bytes);
    await_place(output);
    io::while_there(run_of(run_of(directory_)), [&] { output.file().write(record.at, bytes); });  // it may reopen the file
    done_bytes_ += bytes.size();
  }

  /// Folders of user files are made by who needs them.
  void await_place(const Output& output) {
    const std::lock_guard lock(place_mutex_);
    if (failed_) throw Error("another part of the checkpoint was not written");  // what failed first is reported
    if (!directory_seen_)
      await_directory(directory_, writer_.parent_seen_, writer_.options_.visible_s, writer_.options_.say);
    directory_seen_ = writer_.parent_seen_ = true;
    const auto folder = output.path().substr(0, output.path().rfind('/'));
    if (folder != directory_ && folders_.insert(folder).second) io::make_directories_below(directory_, folder);
  }

  /// The train thread's own part counts as one task. Whoever ends the last one seals.
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
        await_place(*output);
        output->finish();
      }
      sync_folders();
      if (writer_.options_.read_back) read_back();
      writer_.options_.observer(Phase::shard_synced);
    });
    const std::lock_guard lock(mutex_);
    result_.failure = failure_;
    for (std::size_t i = 0; i < result_.files.size() && failure_.empty(); ++i)
      result_.files[i].digest = digest_of_blocks(outputs_[i + 1]->blocks);
    sealed_ = true;
    changed_.notify_all();
  }

  void write_index() {
    const auto text = index_text(plan_->rank, plan_->tensors_text, values_text_, outputs_.front()->blocks,
                                 static_cast<std::size_t>(plan_->index.bytes));
    await_place(*outputs_.front());
    write_text(text, plan_->index.at);
    result_.part = {plan_->rank, plan_->index.at, plan_->index.bytes, io::digest_of(std::string_view(text))};
    done_bytes_ += text.size();
  }

  /// Through a block, so that it goes past the page cache as the rest does: one descriptor to make durable, not two.
  void write_text(const std::string& text, std::uint64_t at) {
    const auto block = writer_.pool_.take(text.size());
    for (std::size_t done = 0; done < text.size();) {
      const auto part = block.bytes().first(std::min(block.bytes().size(), text.size() - done));
      std::memcpy(part.data(), text.data() + done, part.size());
      io::while_there(run_of(run_of(directory_)), [&] { outputs_.front()->file().write(at + done, part); });
      done += part.size();
    }
  }

  void sync_folders() const {
    for (const auto& folder : folders_)
      for (auto path = folder; path != directory_; path.resize(path.rfind('/'))) io::sync_directory(path);
  }

  void read_back() {
    io::BlockPool pool(read_buffer_bytes, 0);  // blocks need not begin on a page
    for (const auto& output : outputs_) {
      const auto file = io::PositionalFile::open(output->path());
      for (const auto& record : output->blocks) {
        const auto block = pool.take(read_buffer_for(record.bytes));
        if (io::digest_of(file.read(record.at, static_cast<std::size_t>(record.bytes), block)) != record.digest)
          throw Error("'" + output->path() + "' reads back otherwise than it was written, at byte " +
                      std::to_string(record.at) + ": the storage loses data, tell those who run it");
        done_bytes_ += record.bytes;
      }
    }
  }

  template <class Action>
  void attempt(Action&& action) {
    try {
      action();
    } catch (const std::exception& error) {
      fail(writer_.options_.explain(error), io::may_pass(error));
    }
  }
  void fail(const std::string& why, bool may_pass) {
    const std::lock_guard lock(mutex_);
    if (failure_.empty()) {
      failure_ = why;
      result_.may_pass = may_pass;
    }
    failed_ = true;
  }

  ShardWriter& writer_;
  std::shared_ptr<const ShardPlan> plan_;
  std::string directory_;
  std::vector<std::unique_ptr<Output>> outputs_;  // the shard, then the user's files
  std::string values_text_;
  std::atomic<int> open_{1};
  std::atomic<bool> failed_{false};
  std::atomic<std::uint64_t> done_bytes_{0};

  std::mutex place_mutex_;
  bool directory_seen_ = false;
  std::set<std::string> folders_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::string failure_;
  bool sealed_ = false;
  Sealed result_;
};

ShardWriter::ShardWriter(WriterOptions options)
    : options_(std::move(options)),
      pool_(block_bytes, options_.staging_bytes,
            [this](std::span<std::byte> buffer) {
              if (pins_) copier_.pin(buffer);
            }),
      workers_(options_.threads, io::Workers::Priority::yield_to_others) {}

ShardWriter::~ShardWriter() = default;

void ShardWriter::prepare(const ShardPlan& plan, const State& state) {
  pins_ = pins_ || any_on_device(state);
  std::uint64_t largest = 0;
  for (const auto& block : plan.blocks) largest = std::max(largest, block.bytes);
  workers_.submit([this, blocks = plan.blocks.size(), largest] {
    try {
      pool_.prepare(blocks, largest);
    } catch (const Error&) {  // the save will say what is missing
    }
  });
}

void ShardWriter::begin(std::shared_ptr<const ShardPlan> plan, const State& state, const std::string& directory) {
  job_ = std::make_shared<Job>(*this, std::move(plan), directory);
  job_->stage(state);
}

bool ShardWriter::is_sealed() const { return job_ == nullptr || job_->is_sealed(); }

Sealed ShardWriter::wait() { return job_->wait(options_.stuck_s); }

io::Block ShardWriter::staging_block(const Job& job, std::size_t bytes) {
  constexpr double limit_s = 2;
  if (auto block = pool_.take_within(limit_s, bytes)) return std::move(*block);
  const auto limit = options_.staging_limit.empty() ? std::string() : " (" + options_.staging_limit + ")";
  options_.say("the save waits for the disk: its staging memory is full" + limit);
  for (StallCheck check("writing a checkpoint", options_.stuck_s, job.done_bytes());;) {
    if (auto block = pool_.take_within(limit_s, bytes)) return std::move(*block);
    check.require_progress(job.done_bytes());
  }
}

}  // namespace trainrt::checkpoint
