#include "data/block_source.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include <trainrt/error.hpp>

#include "io/storage_error.hpp"

namespace trainrt::data {

/// One field of one block.
struct BlockSource::Block {
  std::uint64_t number = 0;
  std::once_flag is_read;
  Column column;
};

/// The blocks of one field. A block that is pushed out lives on until all uses that may have found it have ended.
struct BlockSource::Kept {
  explicit Kept(std::size_t most) : most_kept(most) {}
  Block* find_or_add(std::uint64_t number);
  void free_retired();

  std::size_t most_kept;
  std::mutex mutex;
  std::unordered_map<std::uint64_t, std::unique_ptr<Block>> blocks;
  std::deque<std::uint64_t> in_turn;  ///< their numbers, the oldest at the front
  std::uint64_t last_use = 0;
  std::vector<std::uint64_t> uses;                                       ///< that have not ended
  std::deque<std::pair<std::uint64_t, std::unique_ptr<Block>>> retired;  ///< each with the last use that may have it
  std::vector<Column> spare;
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
  if (!spare.empty()) {
    added->column = std::move(spare.back());
    spare.pop_back();
  }
  const auto* const place = &(blocks[number] = std::move(added));
  in_turn.push_back(number);
  return place->get();
}

/// Under the lock.
void BlockSource::Kept::free_retired() {
  const auto oldest = uses.empty() ? last_use + 1 : *std::min_element(uses.begin(), uses.end());
  for (; !retired.empty() && retired.front().first < oldest; retired.pop_front())
    if (spare.size() < most_kept) spare.push_back(std::move(retired.front().second->column));
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
    }
  }
  ~Use() {
    const std::lock_guard lock(kept_.mutex);
    std::erase(kept_.uses, number_);
    kept_.free_retired();
  }
  Use(const Use&) = delete;
  const std::vector<Block*>& blocks() const { return blocks_; }

 private:
  Kept& kept_;
  std::uint64_t number_ = 0;
  std::vector<Block*> blocks_;
};

BlockSource::BlockSource(std::shared_ptr<const Source> source, std::uint64_t block, std::size_t most_kept)
    : source_(std::move(source)), block_(block) {
  for (std::size_t field = 0; field < fields().size(); ++field) kept_.push_back(std::make_unique<Kept>(most_kept));
}

BlockSource::~BlockSource() = default;

/// By the first thread that wants it; others wait. One that could not be read is tried again by the next.
void BlockSource::read_block(std::size_t field, Block& block) const {
  std::call_once(block.is_read, [&] {
    std::vector<std::uint64_t> samples(std::min(block_, size() - block.number * block_));
    std::iota(samples.begin(), samples.end(), block.number * block_);
    block.column.field = field;
    source_->read(samples, {&block.column, 1});
  });
}

void BlockSource::read_column(std::span<const std::uint64_t> samples, Column& column) const {
  const auto& field = fields()[column.field];
  const Use use(*kept_[column.field], samples, block_);
  for (auto* const block : use.blocks()) read_block(column.field, *block);
  column.ends.clear();
  if (!field.varies) {
    const auto bytes = sample_bytes(field);
    column.values.resize(samples.size() * bytes);
    for (std::size_t i = 0; bytes > 0 && i < samples.size(); ++i)
      std::memcpy(column.values.data() + i * bytes, use.blocks()[i]->column.values.data() + samples[i] % block_ * bytes,
                  bytes);
    return;
  }
  column.values.clear();
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const auto at = samples[i] % block_;
    const auto& [number, values, ends] = use.blocks()[i]->column;
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
