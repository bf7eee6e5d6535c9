#include "checkpoint/load/read_blocks.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>

#include "checkpoint/damage.hpp"
#include "checkpoint/format/names.hpp"
#include "checkpoint/load/survey.hpp"
#include "checkpoint/part.hpp"
#include "device/copier.hpp"
#include "io/files/block_pool.hpp"
#include "io/files/digest.hpp"
#include "io/files/workers.hpp"
#include "io/storage_retry.hpp"

namespace trainrt::checkpoint {

namespace {

/// Returns when the bytes are in their places: they are free to change then.
void copy_from(const BlockRead& read, std::span<const std::byte> bytes, device::Copier& copier) {
  bool to_gpus = false;
  const auto begin = read.block.at;
  const auto end = begin + bytes.size();
  for (const auto& [copy, at, to] : read.copies) {
    // The window is what of the block is the copy's source.
    const auto from = std::max(begin, at + copy->begin());
    const auto last = std::min(end, at + copy->end());
    const auto window = bytes.subspan(from - begin, last - from);
    if (to.gpu < 0) {
      copy->copy(from - at, window, to.at);
      continue;
    }
    to_gpus = true;
    copy->each_run(from - at, window, [&, to = to](std::uint64_t offset, std::span<const std::byte> run) {
      copier.to_device(to.at + offset, to.gpu, run.data(), run.size());
    });
  }
  if (to_gpus) device::wait_all(copier.record(), device::max_copy_s, "copying a checkpoint to a GPU");
}

/// One file on its way; what its blocks' tasks find comes together here.
class FileReading {
 public:
  FileReading(const std::string& checkpoint_dir, const ShardRecord& shard, const ReadPlan::FileReads& file,
              const BlockReading& reading)
      : reading_(reading) {
    path_ = checkpoint_dir + "/" + shard.name;
    try {
      using Cache = io::PositionalFile::Cache;
      io::retried_in(run_of(checkpoint_dir),
                     [&] { file_.emplace(open_shard(checkpoint_dir, shard, file.shared ? Cache::use : Cache::bypass)); });
    } catch (const std::exception& error) {
      fail(error);
    }
  }

  /// What a block holds, in a buffer; nullptr if this file cannot be read.
  struct Filled {
    io::Block buffer;
    std::span<const std::byte> bytes;
  };
  std::shared_ptr<Filled> read(const BlockRead& read, io::BlockPool& pool) {
    if (failed_) return nullptr;
    try {
      auto filled = std::make_shared<Filled>(Filled{pool.take(read_buffer_for(read.block.bytes)), {}});
      filled->bytes = io::retried([&] { return file_->read(read.block.at, read.block.bytes, filled->buffer); });
      return filled;
    } catch (const std::exception& error) {
      fail(error);
      return nullptr;
    }
  }

  void check(const BlockRead& read, std::span<const std::byte> bytes, bool copy, device::Copier& copier) try {
    if (io::digest_of(bytes) != read.block.digest)
      damaged(read.block);
    else if (copy)
      copy_from(read, bytes, copier);
  } catch (const std::exception& error) {  // a GPU's
    fail(error);
  }

  /// No task is running any more. Throws CannotRead.
  std::vector<std::string> findings() {
    if (cannot_read_) std::rethrow_exception(cannot_read_);
    std::vector<std::string> texts;
    std::sort(damaged_.begin(), damaged_.end(), [](const Run& a, const Run& b) { return a.begin < b.begin; });
    for (std::size_t i = 0; i < damaged_.size();) {
      auto run = damaged_[i];
      for (++i; i < damaged_.size() && damaged_[i].begin == run.end; ++i) run.end = damaged_[i].end;
      texts.push_back(damaged_bytes(path_, run.begin, run.end - run.begin));
    }
    if (failed_) texts.push_back(failure_);
    return texts;
  }

 private:
  void damaged(const BlockRecord& block) {
    const std::lock_guard lock(mutex_);
    damaged_.push_back({block.at, block.at + block.bytes});
  }
  void fail(const std::exception& error) {
    const std::lock_guard lock(mutex_);
    if (!failed_) failure_ = error.what();
    failed_ = true;
    if (reading_.failed) reading_.failed(error);
    try {
      rethrow_if_no_damage(error);
    } catch (...) {
      cannot_read_ = std::current_exception();
    }
  }

  const BlockReading& reading_;
  std::string path_;
  std::optional<io::PositionalFile> file_;
  std::mutex mutex_;
  std::atomic<bool> failed_ = false;
  std::string failure_;
  std::exception_ptr cannot_read_;
  std::vector<Run> damaged_;
};

/// Threads that read, threads that check, and the buffers that go from the ones to the others. The threads are started
/// when somebody has work for more than one.
struct Crew {
  explicit Crew(const BlockReading& reading)
      : threads(reading.threads),
        pool(read_buffer_bytes, static_cast<std::uint64_t>(4 * reading.threads) * read_buffer_bytes,
             reading.to_gpus ? [this](std::span<std::byte> buffer) { copier.pin(buffer); }
                             : std::function<void(std::span<std::byte>)>()) {
    copier.follow_default_streams();
  }
  void start() {
    if (!checkers) checkers.emplace(threads);
    if (!readers) readers.emplace(3 * threads);
  }
  int threads;
  io::BlockPool pool;
  device::Copier copier;  // ends before the memory that it has pinned
  std::optional<io::Workers> checkers;
  std::optional<io::Workers> readers;  // last: ends first, as it feeds the others
};

std::vector<const BlockRead*> blocks_of(const ReadPlan::FileReads& file, const BlockReading& reading) {
  std::vector<const BlockRead*> blocks;
  for (const auto& read : file.blocks)
    if (reading.what == BlockReading::What::all || !read.copies.empty()) blocks.push_back(&read);
  return blocks;
}

/// Threads would only wait for each other: for a single block, or for so little that file systems read it at once. Such are
/// the files of a small state on many ranks, which each rank may have to read all.
bool is_little(const std::vector<const BlockRead*>& blocks) {
  constexpr std::uint64_t little_bytes = std::uint64_t{256} << 10;
  std::uint64_t bytes = 0;
  for (const auto* read : blocks) bytes += read->block.bytes;
  return blocks.size() == 1 || bytes <= little_bytes;
}

std::vector<std::string> read_file(const std::string& checkpoint_dir, const ShardRecord& shard,
                                   const ReadPlan::FileReads& file, const BlockReading& reading, Crew& crew) {
  const auto blocks = blocks_of(file, reading);
  if (blocks.empty()) return {};
  FileReading job(checkpoint_dir, shard, file, reading);
  const auto end = [&](const BlockRead& read, std::shared_ptr<FileReading::Filled> filled) {
    if (filled != nullptr) job.check(read, filled->bytes, reading.copy, crew.copier);
    filled.reset();
    if (reading.read) reading.read(read.block.bytes);
  };
  if (is_little(blocks)) {
    for (const auto* read : blocks) end(*read, job.read(*read, crew.pool));
    return job.findings();
  }
  crew.start();
  for (const auto* read : blocks)
    crew.readers->submit([&, read] {
      auto filled = job.read(*read, crew.pool);
      if (filled == nullptr) return end(*read, nullptr);
      crew.checkers->submit([&, read, filled = std::move(filled)]() mutable { end(*read, std::move(filled)); });
    });
  crew.readers->drain();
  crew.checkers->drain();
  return job.findings();
}

}  // namespace

std::vector<std::string> read_blocks(const std::string& checkpoint_dir, const Manifest& manifest,
                                     const std::vector<ReadPlan::FileReads>& files, const BlockReading& reading) {
  Crew crew(reading);
  std::vector<std::string> findings;
  for (const auto& file : files) {
    auto more = read_file(checkpoint_dir, manifest.shards[file.shard], file, reading, crew);
    findings.insert(findings.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  }
  return findings;
}

}  // namespace trainrt::checkpoint
