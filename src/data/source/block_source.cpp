#include "data/source/block_source.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <numeric>
#include <utility>

#include <trainrt/error.hpp>

#include "io/storage_error.hpp"

namespace trainrt::data {

namespace {

constexpr std::size_t most_together = 4;  // blocks: of each thread, so that a store is asked for many at the same time

}  // namespace

/// One field of blocks that were read together.
struct BlockSource::Slab {
  Column column;
};

/// One field of one block.
struct BlockSource::Block {
  enum class State : std::uint8_t { unread, in_work, ready };
  std::uint64_t number = 0;
  State state = State::unread;
  std::uint64_t seen_by = 0;   ///< the last use that has it
  std::shared_ptr<Slab> slab;  ///< of one that is ready, and where its samples begin there
  std::size_t first = 0;
};

/// The blocks of one field. A block that is pushed out lives on until all uses that may have found it have ended.
struct BlockSource::Kept {
  explicit Kept(std::size_t most) : most_kept(most) {}
  Block* find_or_add(std::uint64_t number);
  void free_retired();
  std::shared_ptr<Slab> slab_of(std::size_t bytes);

  std::size_t most_kept;
  std::mutex mutex;
  std::condition_variable was_read;
  std::unordered_map<std::uint64_t, std::unique_ptr<Block>> blocks;
  std::deque<std::uint64_t> in_turn;  ///< their numbers, the oldest at the front
  std::uint64_t last_use = 0;
  std::vector<std::uint64_t> uses;                                       ///< that have not ended
  std::deque<std::pair<std::uint64_t, std::unique_ptr<Block>>> retired;  ///< each with the last use that may have it
  std::vector<std::shared_ptr<Slab>> spare;
};

/// Under the lock.
BlockSource::Block* BlockSource::Kept::find_or_add(std::uint64_t number) {
  if (const auto found = blocks.find(number); found != blocks.end()) return found->second.get();
  if (in_turn.size() == most_kept) {
    auto oldest = blocks.extract(in_turn.front());
    in_turn.pop_front();
    retired.emplace_back(last_use, std::move(oldest.mapped()));
  }
  auto added = std::make_unique<Block>();
  added->number = number;
  const auto* const place = &(blocks[number] = std::move(added));
  in_turn.push_back(number);
  return place->get();
}

/// Under the lock.
void BlockSource::Kept::free_retired() {
  const auto oldest = uses.empty() ? last_use + 1 : *std::min_element(uses.begin(), uses.end());
  for (; !retired.empty() && retired.front().first < oldest; retired.pop_front()) {
    auto slab = std::move(retired.front().second->slab);
    if (slab.use_count() == 1 && spare.size() < most_kept) spare.push_back(std::move(slab));
  }
}

/// Under the lock. Memory that is spare and too small gives way to new memory.
std::shared_ptr<BlockSource::Slab> BlockSource::Kept::slab_of(std::size_t bytes) {
  const auto suits = [&](const auto& slab) { return slab->column.values.capacity() >= bytes; };
  auto found = std::ranges::find_if(spare, suits);
  const bool is_new = found == spare.end();
  if (is_new) found = std::ranges::min_element(spare, {}, [](const auto& slab) { return slab->column.values.capacity(); });
  auto slab = std::make_shared<Slab>();
  if (found == spare.end()) return slab;
  if (!is_new) slab = std::move(*found);
  spare.erase(found);
  return slab;
}

/// The block of each sample, which may still have to be read; none of them goes away while this lives. One lock for all.
class BlockSource::Use {
 public:
  Use(Kept& kept, std::span<const std::uint64_t> samples, std::uint64_t block) : kept_(kept), blocks_(samples.size()) {
    const std::lock_guard lock(kept_.mutex);
    kept_.uses.push_back(number_ = ++kept_.last_use);
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const auto number = samples[i] / block;
      blocks_[i] = i > 0 && blocks_[i - 1]->number == number ? blocks_[i - 1] : kept_.find_or_add(number);
      if (std::exchange(blocks_[i]->seen_by, number_) != number_) different_.push_back(blocks_[i]);
    }
    std::ranges::sort(different_, {}, &Block::number);
  }
  ~Use() {
    const std::lock_guard lock(kept_.mutex);
    std::erase(kept_.uses, number_);
    kept_.free_retired();
  }
  Use(const Use&) = delete;
  const std::vector<Block*>& blocks() const { return blocks_; }
  const std::vector<Block*>& different() const { return different_; }  ///< each once, in the order of the files

 private:
  Kept& kept_;
  std::uint64_t number_ = 0;
  std::vector<Block*> blocks_, different_;
};

BlockSource::BlockSource(std::shared_ptr<const Source> source, std::uint64_t block, std::size_t most_kept)
    : source_(std::move(source)), block_(block) {
  for (std::size_t field = 0; field < fields().size(); ++field) kept_.push_back(std::make_unique<Kept>(most_kept));
}

BlockSource::~BlockSource() = default;

/// Several at once, by the first thread that wants them: so that their parts of a file are under way together. Others wait.
/// What could not be read is tried again by the next one that wants it.
void BlockSource::read_blocks(std::size_t field, const Use& use) const {
  auto& kept = *kept_[field];
  std::unique_lock lock(kept.mutex);
  for (;;) {
    std::vector<Block*> mine;
    bool all_ready = true;
    for (auto* const block : use.different()) {
      all_ready = all_ready && block->state == Block::State::ready;
      if (block->state == Block::State::unread && mine.size() < most_together) mine.push_back(block);
    }
    if (all_ready) return;
    if (mine.empty()) {
      kept.was_read.wait(lock);
      continue;
    }
    read_together(field, mine, lock);
  }
}

/// The lock is held before and after, not while it reads. If some of them cannot be read, each is tried by itself.
void BlockSource::read_together(std::size_t field, std::span<Block* const> blocks,
                                std::unique_lock<std::mutex>& lock) const {
  auto& kept = *kept_[field];
  std::vector<std::uint64_t> samples;
  std::vector<std::size_t> firsts;
  for (auto* const block : blocks) {
    firsts.push_back(samples.size());
    const auto begin = block->number * block_, count = std::min(block_, size() - begin);
    samples.resize(samples.size() + count);
    std::iota(samples.end() - static_cast<std::ptrdiff_t>(count), samples.end(), begin);
  }
  const auto slab = kept.slab_of(fields()[field].varies ? 0 : samples.size() * sample_bytes(fields()[field]));
  for (auto* const block : blocks) block->state = Block::State::in_work;  // nothing throws from here on until it is another
  lock.unlock();
  std::exception_ptr trouble;
  try {
    slab->column.field = field;
    source_->read(samples, {&slab->column, 1});
  } catch (...) {
    trouble = std::current_exception();
  }
  lock.lock();
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    blocks[i]->state = trouble ? Block::State::unread : Block::State::ready;
    if (!trouble) blocks[i]->slab = slab;
    blocks[i]->first = firsts[i];
  }
  kept.was_read.notify_all();
  if (trouble && blocks.size() == 1) std::rethrow_exception(trouble);
  for (std::size_t i = 0; trouble && i < blocks.size(); ++i)
    if (blocks[i]->state == Block::State::unread) read_together(field, blocks.subspan(i, 1), lock);
}

void BlockSource::read_column(std::span<const std::uint64_t> samples, Column& column) const {
  const auto& field = fields()[column.field];
  const Use use(*kept_[column.field], samples, block_);
  read_blocks(column.field, use);
  column.ends.clear();
  if (!field.varies) {
    const auto bytes = sample_bytes(field);
    column.values.resize(samples.size() * bytes);
    for (std::size_t i = 0; bytes > 0 && i < samples.size(); ++i) {
      const auto& block = *use.blocks()[i];
      std::memcpy(column.values.data() + i * bytes,
                  block.slab->column.values.data() + (block.first + samples[i] % block_) * bytes, bytes);
    }
    return;
  }
  column.values.clear();
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const auto& block = *use.blocks()[i];
    const auto at = block.first + samples[i] % block_;
    const auto& [number, values, ends] = block.slab->column;
    const auto first = at == 0 ? 0 : ends[at - 1];
    column.values.insert(column.values.end(), values.data() + first, values.data() + ends[at]);
    column.ends.push_back(column.values.size());
  }
}

void BlockSource::read(std::span<const std::uint64_t> samples, std::span<Column> columns) const {
  for (auto& column : columns) try {
      read_column(samples, column);
    } catch (const io::StorageError&) {
      throw;
    } catch (const Error&) {  // perhaps it is about other samples of a block
      source_->read(samples, {&column, 1});
    }
}

}  // namespace trainrt::data
