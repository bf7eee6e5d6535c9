#include "checkpoint/save/shard_writer.hpp"

#include <algorithm>
#include <utility>

#include <trainrt/error.hpp>

#include "checkpoint/device_memory.hpp"
#include "checkpoint/format/names.hpp"
#include "checkpoint/save/shard_image.hpp"
#include "checkpoint/save/shard_job.hpp"
#include "checkpoint/save/stall_check.hpp"

namespace trainrt::checkpoint {

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
  std::size_t staged = 0;
  for (const auto& block : plan.blocks) {
    if (steady_bytes_of(block, plan, state).owner) continue;
    largest = std::max(largest, block.bytes);
    ++staged;
  }
  take_memory(staged, largest);
}

/// Allocates `blocks` staging buffers of `bytes` bytes each, in a background thread. Ignores errors.
void ShardWriter::take_memory(std::size_t blocks, std::uint64_t bytes) {
  workers_.submit([this, blocks, bytes] {
    try {
      pool_.prepare(blocks, bytes);
    } catch (const Error&) {  // ignored: begin() tries again and reports the error
    }
  });
}

void ShardWriter::begin(std::shared_ptr<const ShardPlan> plan, const State& state, const DirectoryFiles& given,
                        const std::string& directory) {
  job_ = std::make_shared<Job>(*this, std::move(plan), directory);
  job_->stage(state, given);
  std::uint64_t of_files = 0;
  for (const auto& file : given.files) of_files += file.bytes;
  if (of_files > 0)
    // Allocates staging memory for the files of the next save, which probably have the same size as those of this save.
    take_memory(static_cast<std::size_t>(of_files / block_bytes + 1), block_bytes);
}

void ShardWriter::require_readable() const { job_->require_readable(); }

bool ShardWriter::is_sealed() const { return job_ == nullptr || job_->is_sealed(); }

Sealed ShardWriter::wait() { return job_->wait(options_.stuck_s); }

io::Block ShardWriter::staging_block(const Job& job, std::size_t bytes) {
  constexpr double limit_s = 2;
  if (auto block = pool_.take_within(limit_s, bytes)) return std::move(*block);
  const auto limit = options_.staging_limit.empty() ? std::string() : " (" + options_.staging_limit + ")";
  if (!std::exchange(warned_of_wait_, true))  // only the first wait is reported
    options_.warn("the save waits for the disk: its staging memory is full" + limit);
  for (StallCheck check("writing a checkpoint", options_.stuck_s, job.done_bytes());;) {
    if (auto block = pool_.take_within(limit_s, bytes)) return std::move(*block);
    check.require_progress(job.done_bytes());
  }
}

}  // namespace trainrt::checkpoint
