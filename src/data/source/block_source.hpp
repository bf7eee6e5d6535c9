#pragma once
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "data/source/source.hpp"

namespace trainrt::data {

/// A source that is read block by block, and keeps the blocks that were read last: for an order in which neighbours in the
/// files come close together in time (BlockOrder). Several of them are read at once. The memory of blocks that are no
/// longer kept is used again.
class BlockSource final : public Source {
 public:
  /// Blocks of `block` samples. Of each field that is read the last `most_kept` blocks are kept.
  BlockSource(std::shared_ptr<const Source> source, std::uint64_t block, std::size_t most_kept);
  ~BlockSource() override;
  std::uint64_t size() const override { return source_->size(); }
  const std::vector<Dataset::Field>& fields() const override { return source_->fields(); }
  void read(std::span<const std::uint64_t> samples, std::span<Column> columns) const override;

 private:
  struct Slab;
  struct Block;
  struct Kept;
  class Use;
  void read_blocks(std::size_t field, const Use& use) const;
  void read_together(std::size_t field, std::span<Block* const> blocks, std::unique_lock<std::mutex>& lock) const;
  void read_column(std::span<const std::uint64_t> samples, Column& column) const;

  std::shared_ptr<const Source> source_;
  std::uint64_t block_;
  std::vector<std::unique_ptr<Kept>> kept_;  ///< by the number of the field
};

}  // namespace trainrt::data
