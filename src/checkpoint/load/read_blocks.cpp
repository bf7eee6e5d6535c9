#include "checkpoint/load/read_blocks.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>

#include "checkpoint/damage.hpp"
#include "checkpoint/format/names.hpp"
#include "checkpoint/load/index_fetch.hpp"
#include "checkpoint/part.hpp"
#include "device/copier.hpp"
#include "io/files/block_pool.hpp"
#include "io/files/digest.hpp"
#include "io/files/workers.hpp"
#include "io/storage_retry.hpp"

namespace trainrt::checkpoint {

namespace {

/// Copies the wanted bytes of a block to their destinations in host or GPU memory. Returns when the copies are complete and
/// `bytes` may be reused.
void copy_from(const BlockRead& read, std::span<const std::byte> bytes, device::Copier& copier) {
  bool to_gpus = false;
  const auto begin = read.block.at;
  const auto end = begin + bytes.size();
  for (const auto& [copy, at, to] : read.copies) {
    // The window is the byte range of the block that this copy needs.
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

/// Reads the blocks of one shard file and collects the errors found by the concurrent tasks that verify the blocks.
/// Thread-safe, except findings().
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

  /// A buffer with the bytes of one block of the file. read() returns nullptr if the file cannot be read.
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
  } catch (const std::exception& error) {  // only a failed copy to a GPU throws here
    fail(error);
  }

  /// Returns one line for each damaged byte range of the file, and one if the file cannot be read. Must be called when all
  /// tasks that read or verify blocks of the file have ended. Throws CannotRead.
  std::vector<std::string> findings() {
    if (cannot_read_) std::rethrow_exception(cannot_read_);
    std::vector<std::string> texts;
    std::ranges::sort(damaged_, {}, &ByteRange::begin);
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
  std::vector<ByteRange> damaged_;
};

/// Threads that read blocks, threads that verify blocks, and the pool of buffers that the readers pass to the verifiers.
/// The threads are started for the first file that needs them.
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
  device::Copier copier;  // declared after `pool`, so that the copier is destroyed before the memory that it has pinned
  std::optional<io::Workers> checkers;
  // declared last, so that the readers are destroyed first: their tasks submit tasks to `checkers`
  std::optional<io::Workers> readers;
};

std::vector<const BlockRead*> blocks_of(const ReadPlan::FileReads& file, const BlockReading& reading) {
  std::vector<const BlockRead*> blocks;
  for (const auto& read : file.blocks)
    if (reading.blocks == BlockReading::Blocks::all || !read.copies.empty()) blocks.push_back(&read);
  return blocks;
}

/// Returns whether the calling thread should read the blocks of a file itself: there is only one block, or there are so few
/// bytes that threads would mostly wait for each other. A rank may have to read many such files, one for each rank that
/// saved a small State.
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
