#include "data/block_source.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace trainrt::data {

BlockSource::BlockSource(std::shared_ptr<const Source> source, std::uint64_t block, std::size_t most_kept)
    : source_(std::move(source)), block_(block), most_kept_(most_kept), kept_(source_->fields().size()) {}

/// Under the lock.
std::shared_ptr<BlockSource::Block> BlockSource::kept(std::size_t field, std::uint64_t number) const {
  auto& [blocks, place_of] = kept_[field];
  if (const auto found = place_of.find(number); found != place_of.end()) {
    blocks.splice(blocks.begin(), blocks, found->second);
  } else {
    blocks.emplace_front(number, std::make_shared<Block>());
    place_of[number] = blocks.begin();
    if (blocks.size() > most_kept_) {
      place_of.erase(blocks.back().first);
      blocks.pop_back();
    }
  }
  return blocks.front().second;
}

/// The blocks of these samples, which may still have to be read.
std::vector<std::shared_ptr<BlockSource::Block>> BlockSource::kept_of(std::span<const std::uint64_t> samples,
                                                                      std::size_t field) const {
  std::vector<std::shared_ptr<Block>> blocks;
  blocks.reserve(samples.size());
  const std::lock_guard lock(mutex_);
  for (const auto sample : samples) blocks.push_back(kept(field, sample / block_));
  return blocks;
}

/// By the first thread that wants it; others wait. One that could not be read is tried again by the next.
void BlockSource::read_block(std::size_t field, std::uint64_t number, Block& block) const {
  std::call_once(block.is_read, [&] {
    std::vector<std::uint64_t> samples(std::min(block_, size() - number * block_));
    std::iota(samples.begin(), samples.end(), number * block_);
    block.column.field = field;
    source_->read(samples, {&block.column, 1});
  });
}

void BlockSource::read_column(std::span<const std::uint64_t> samples, Column& column) const {
  const auto& field = fields()[column.field];
  const auto bytes = field.varies ? 0 : sample_bytes(field);
  const auto blocks = kept_of(samples, column.field);
  column.values.resize(samples.size() * bytes);
  column.ends.clear();
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const auto& from = blocks[i];
    read_block(column.field, samples[i] / block_, *from);
    const auto at = samples[i] % block_;
    if (field.varies) {
      const auto& [number, values, ends] = from->column;
      const auto first = at == 0 ? 0 : ends[at - 1];
      column.values.insert(column.values.end(), values.data() + first, values.data() + ends[at]);
      column.ends.push_back(column.values.size());
    } else if (bytes > 0) {
      std::memcpy(column.values.data() + i * bytes, from->column.values.data() + at * bytes, bytes);
    }
  }
}

void BlockSource::read(std::span<const std::uint64_t> samples, std::span<Column> columns) const {
  for (auto& column : columns) read_column(samples, column);
}

}  // namespace trainrt::data
