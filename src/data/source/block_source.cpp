#include "data/source/block_source.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <unordered_map>
#include <utility>

#include <trainrt/error.hpp>

#include "io/storage_error.hpp"

namespace trainrt::data {

namespace {

constexpr std::size_t max_blocks_together =
    4;  // maximum number of blocks per call of the source, so that other threads can read blocks, too

std::size_t capacity_of(const std::shared_ptr<Column>& column) { return column->values.capacity(); }

}  // namespace

/// The values of one field in one block, and the state of reading them.
struct BlockSource::Block {
  enum class State : std::uint8_t { unread, reading, ready };
  std::uint64_t number = 0;
  State state = State::unread;
  std::uint64_t last_use = 0;      ///< number of the last Use that found this block
  std::shared_ptr<Column> column;  ///< values of this block and of the blocks read with it; only if `state` is ready
  std::size_t first = 0;           ///< index in `column` of the first sample of this block
};

/// The blocks of one field. `mutex` protects all members, and the shared pointers to blocks.
struct BlockSource::FieldBlocks {
  explicit FieldBlocks(std::size_t max) : max_kept(max) {}
  std::shared_ptr<Block> find_or_add(std::uint64_t number);
  void release(std::shared_ptr<Block> block);
  std::shared_ptr<Column> memory_for(std::size_t bytes);

  std::size_t max_kept;
  std::mutex mutex;
  std::condition_variable was_read;
  std::unordered_map<std::uint64_t, std::shared_ptr<Block>> blocks;
  std::deque<std::uint64_t> numbers;  ///< numbers of the kept blocks, the oldest first
  std::uint64_t uses = 0;
  std::vector<std::shared_ptr<Column>> spare;  ///< memory of dropped blocks
};

std::shared_ptr<BlockSource::Block> BlockSource::FieldBlocks::find_or_add(std::uint64_t number) {
  if (const auto found = blocks.find(number); found != blocks.end()) return found->second;
  if (numbers.size() == max_kept) {
    auto oldest = std::move(blocks.extract(numbers.front()).mapped());
    numbers.pop_front();
    release(std::move(oldest));
  }
  numbers.push_back(number);
  auto& added = blocks[number] = std::make_shared<Block>();
  added->number = number;
  return added;
}

/// Drops `block`, a reference to a block. If it is the last reference, the memory of the block becomes spare memory.
void BlockSource::FieldBlocks::release(std::shared_ptr<Block> block) {
  if (block.use_count() > 1) return;
  auto column = std::move(block->column);
  if (column.use_count() == 1 && spare.size() < max_kept) spare.push_back(std::move(column));
}

/// Returns a column with memory for `bytes` bytes if there is spare memory of that size. Otherwise returns an empty
/// column.
std::shared_ptr<Column> BlockSource::FieldBlocks::memory_for(std::size_t bytes) {
  const auto largest = std::ranges::max_element(spare, {}, capacity_of);
  if (largest == spare.end()) return std::make_shared<Column>();
  auto column = std::move(*largest);
  spare.erase(largest);
  return capacity_of(column) >= bytes ? column : std::make_shared<Column>();
}

/// The blocks that contain the samples of one request. The constructor finds or adds the blocks, but does not read them.
/// The blocks are kept as long as this object exists.
class BlockSource::Use {
 public:
  Use(FieldBlocks& kept, std::span<const std::uint64_t> samples, std::uint64_t block)
      : kept_(kept), blocks_(samples.size()) {
    const std::lock_guard lock(kept_.mutex);
    const auto use = ++kept_.uses;
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const auto number = samples[i] / block;
      if (i > 0 && blocks_[i - 1]->number == number) {
        blocks_[i] = blocks_[i - 1];
        continue;
      }
      auto found = kept_.find_or_add(number);
      blocks_[i] = found.get();
      if (std::exchange(found->last_use, use) != use) different_.push_back(std::move(found));
    }
    std::ranges::sort(different_, {}, &Block::number);
  }
  ~Use() {
    const std::lock_guard lock(kept_.mutex);
    for (auto& block : different_) kept_.release(std::move(block));
  }
  Use(const Use&) = delete;
  const std::vector<Block*>& blocks() const { return blocks_; }                        ///< returns the block of each sample
  const std::vector<std::shared_ptr<Block>>& different() const { return different_; }  ///< each once, in file order

 private:
  FieldBlocks& kept_;
  std::vector<Block*> blocks_;
  std::vector<std::shared_ptr<Block>> different_;
};

BlockSource::BlockSource(std::shared_ptr<const Source> source, std::uint64_t block, std::size_t max_kept)
    : WrappedSource(std::move(source)), block_(block) {
  for (std::size_t field = 0; field < fields().size(); ++field) kept_.push_back(std::make_unique<FieldBlocks>(max_kept));
}

BlockSource::~BlockSource() = default;

/// Reads the blocks of `use` that are not ready. A block is read by the first thread that needs it; other threads wait.
/// One call of the source reads several blocks. If a block could not be read, the next thread that needs it tries
/// again.
void BlockSource::read_blocks(std::size_t field, const Use& use) const {
  auto& kept = *kept_[field];
  std::unique_lock lock(kept.mutex);
  for (;;) {
    std::vector<Block*> unread;
    bool all_ready = true;
    for (const auto& block : use.different()) {
      all_ready = all_ready && block->state == Block::State::ready;
      if (block->state == Block::State::unread && unread.size() < max_blocks_together) unread.push_back(block.get());
    }
    if (all_ready) return;
    if (unread.empty())
      kept.was_read.wait(lock);
    else
      read_together(field, unread, lock);
  }
}

/// Reads some blocks by one call of the source. Releases `lock` during this call. If the call fails, reads the blocks
/// one by one, and throws the error of the first block that fails.
void BlockSource::read_together(std::size_t field, std::span<Block* const> blocks,
                                std::unique_lock<std::mutex>& lock) const {
  auto& kept = *kept_[field];
  std::vector<std::uint64_t> samples;
  std::vector<std::size_t> firsts;
  for (auto* const block : blocks) {
    firsts.push_back(samples.size());
    const auto begin = block->number * block_, count = std::min(block_, size() - begin);
    for (auto sample = begin; sample < begin + count; ++sample) samples.push_back(sample);
  }
  const auto column = kept.memory_for(fields()[field].varies ? 0 : samples.size() * sample_bytes(fields()[field]));
  for (auto* const block : blocks) block->state = Block::State::reading;  // nothing may throw until the state is set again
  lock.unlock();
  std::exception_ptr error;
  try {
    column->field = field;
    source_->read(samples, {column.get(), 1});
  } catch (...) {
    error = std::current_exception();
  }
  lock.lock();
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    blocks[i]->state = error ? Block::State::unread : Block::State::ready;
    if (!error) blocks[i]->column = column;
    blocks[i]->first = firsts[i];
  }
  kept.was_read.notify_all();
  if (error && blocks.size() == 1) std::rethrow_exception(error);
  for (std::size_t i = 0; error && i < blocks.size(); ++i)
    if (blocks[i]->state == Block::State::unread) read_together(field, blocks.subspan(i, 1), lock);
}

void BlockSource::read_column(std::span<const std::uint64_t> samples, Column& column) const {
  const auto& field = fields()[column.field];
  const Use use(*kept_[column.field], samples, block_);
  read_blocks(column.field, use);
  const auto bytes = field.varies ? 0 : sample_bytes(field);
  column.ends.clear();
  column.values.resize(samples.size() * bytes);
  for (std::size_t i = 0; (field.varies || bytes > 0) && i < samples.size(); ++i) {
    const auto& block = *use.blocks()[i];
    const auto at = block.first + samples[i] % block_;
    if (field.varies)
      column.append(block.column->varying(at));
    else
      std::memcpy(column.values.data() + i * bytes, block.column->values.data() + at * bytes, bytes);
  }
}

void BlockSource::read(std::span<const std::uint64_t> samples, std::span<Column> columns) const {
  for (auto& column : columns) try {
      read_column(samples, column);
    } catch (const io::StorageError&) {
      throw;
    } catch (const Error&) {  // the error may concern other samples of a block
      source_->read(samples, {&column, 1});
    }
}

}  // namespace trainrt::data
