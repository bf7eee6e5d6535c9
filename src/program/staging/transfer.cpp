#include "program/staging/transfer.hpp"

#include <algorithm>
#include <array>
#include <filesystem>

#include <fmt/format.h>
#include <unistd.h>
#include <trainrt/error.hpp>

#include "core/files/shortage.hpp"
#include "core/host.hpp"

namespace trainrt::program::stage {

namespace {

constexpr std::size_t chunk_bytes = std::size_t{4} << 20;
constexpr double poll_s = 0.2;

/// Divides a byte stream into chunks of 4 MiB, and pushes the chunks to a queue.
class Chunker {
 public:
  explicit Chunker(ChunkQueue& queue) : queue_(queue) { chunk_.reserve(chunk_bytes); }
  void take(std::span<const char> bytes) {
    while (!bytes.empty()) {
      const auto part = bytes.first(std::min(bytes.size(), chunk_bytes - chunk_.size()));
      chunk_.insert(chunk_.end(), part.begin(), part.end());
      bytes = bytes.subspan(part.size());
      if (chunk_.size() == chunk_bytes) flush();
    }
  }
  void finish() {
    if (!chunk_.empty()) flush();
    queue_.finish();
  }

 private:
  void flush() {
    queue_.push(std::exchange(chunk_, {}));
    chunk_.reserve(chunk_bytes);
  }

  ChunkQueue& queue_;
  Chunk chunk_;
};

Worker::Work reading(const StageFormat& format, const std::string& source, std::shared_ptr<TransferResult> found) {
  return [&format, source, found = std::move(found)](ChunkQueue& queue) {
    Chunker chunks(queue);
    found->identity = format.read(source, [&](std::span<const char> bytes) { chunks.take(bytes); });
    chunks.finish();
  };
}

Worker::Work unpacking(const StageFormat& format, const TransferRole& role, std::shared_ptr<TransferResult> found) {
  return [&format, role, found = std::move(found)](ChunkQueue& queue) {
    if (role.before) role.before();
    if (chdir(role.folder.c_str()) != 0) throw Error("cannot enter " + role.folder);
    std::optional<Chunk> chunk;
    found->size = format.unpack([&] {
      chunk = queue.pop();
      return chunk ? std::span<const char>(*chunk) : std::span<const char>();
    });
    while (queue.pop()) {  // skips bytes after the end of a tar
    }
  };
}

std::string free_space(const std::string& folder) {
  const auto room = storage_room_at(folder).value_or(StorageRoom{});
  return fmt::format("{:.1f} GiB{} free", static_cast<double>(room.free_bytes) / (1 << 30),
                     room.free_inodes ? fmt::format(" and {} inodes", *room.free_inodes) : "");
}

}  // namespace

/// Status of a rank in a Transfer. The element-wise maximum of the status of all ranks is also a Status.
struct Transfer::Status {
  std::int64_t failed = 0;
  std::int64_t is_full = 0;  ///< 1 if the queue of an unpacking rank is full
  std::int64_t works = 0;    ///< 1 if the rank has not finished
  std::int64_t is_read = 0;  ///< 1 if the source has been read
  std::int64_t size = 0;     ///< size of the next chunk in bytes
};

Transfer::Transfer(Context& ctx, const StageFormat& format, std::string source, TransferRole role, double timeout_s)
    : ctx_(ctx),
      format_(format),
      source_(std::move(source)),
      role_(std::move(role)),
      timeout_s_(timeout_s),
      unpacking_(ctx.communicator().split(role_.folder.empty() ? -1 : 0, ctx.world_rank())),
      last_chunk_s_(monotonic_seconds()),
      last_room_s_(last_chunk_s_) {
  if (role_.reads) reader_.emplace(reading(format_, source_, found_));
  if (!role_.folder.empty()) unpacker_.emplace(unpacking(format_, role_, found_));
}

TransferResult Transfer::run() {
  for (;;) {
    const auto all = exchange_status();
    if (all.failed != 0) throw_cause();
    if (all.works == 0) break;
    if (all.size > 0 && all.is_full == 0) broadcast_chunk(static_cast<std::size_t>(all.size));
    if (all.is_read != 0 && all.size == 0 && unpacker_) unpacker_->queue().finish();
    ctx_.stop_point();
  }
  TransferResult passed;
  if (unpacking_) passed = {unpacking_->broadcast_text(role_.reads ? found_->identity : std::string(), 0), found_->size};
  return passed;
}

Transfer::Status Transfer::exchange_status() {
  Status mine;
  if (reader_) check_source(mine);
  if (unpacker_) check_tree(mine);
  mine.failed = error_.empty() ? 0 : 1;
  std::array<std::int64_t, 5> values = {mine.failed, mine.is_full, mine.works, mine.is_read, mine.size};
  ctx_.communicator().all_reduce(values, Op::max, "status of program.stage");
  return {values[0], values[1], values[2], values[3], values[4]};
}

void Transfer::check_source(Status& mine) {
  if (!next_ && !is_read_) {
    next_ = reader_->queue().pop_within(poll_s);
    if (next_) last_chunk_s_ = monotonic_seconds();
  }
  is_read_ = reader_->queue().is_at_end();
  mine.is_read = is_read_ ? 1 : 0;
  mine.works = is_read_ && !next_ ? 0 : 1;
  mine.size = next_ ? static_cast<std::int64_t>(next_->size()) : 0;
  const auto text = reader_->error();
  if (!text.empty()) error_ = fmt::format("program.stage: on {}: {}", role_.node, text);
  if (!next_ && !is_read_ && monotonic_seconds() - last_chunk_s_ > timeout_s_)
    error_ = fmt::format(
        "program.stage: reading {} on {} has made no progress for {:g} s (failure.collective_timeout); check its storage",
        source_, role_.node, timeout_s_);
}

void Transfer::check_tree(Status& mine) {
  const bool has_room = unpacker_->queue().has_room_within(poll_s);
  const bool has_all = unpacker_->queue().is_at_end();
  if (has_room && !has_all) last_room_s_ = monotonic_seconds();
  mine.is_full = has_room ? 0 : 1;
  if (has_all) static_cast<void>(unpacker_->ends_within(poll_s));
  if (!unpacker_->has_ended()) mine.works = 1;
  if (const auto text = unpacker_->error(); !text.empty())
    error_ = fmt::format(
        "program.stage: cannot unpack {} on {} into {} ({}): {}. Choose another folder with program.stage_dir = DIR",
        source_, role_.node, role_.folder, free_space(role_.folder), text);
  if (monotonic_seconds() - last_room_s_ > timeout_s_)
    error_ = fmt::format(
        "program.stage: writing {} on {} has made no progress for {:g} s (failure.collective_timeout); check its storage",
        role_.folder, role_.node, timeout_s_);
}

void Transfer::broadcast_chunk(std::size_t size) {
  if (!unpacking_) return;
  Chunk chunk = next_ ? std::move(*next_) : Chunk(size);
  next_.reset();
  if (unpacking_->size() > 1) unpacking_->broadcast(Buffer{chunk.data(), size, DType::u8}, 0, "a chunk of program.stage");
  unpacker_->queue().push(std::move(chunk));  // does not wait, since the queue has room
}

void Transfer::throw_cause() {
  const auto texts = ctx_.communicator().all_gather(std::string_view(error_));
  throw Error(*std::ranges::find_if(texts, [](const auto& text) { return !text.empty(); }));
}

}  // namespace trainrt::program::stage
