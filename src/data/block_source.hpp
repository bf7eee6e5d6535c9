#pragma once
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "data/source.hpp"

namespace trainrt::data {

/// A source that is read block by block, and keeps the blocks that were used last: for an order in which neighbours in the
/// files come close together in time (BlockOrder).
class BlockSource final : public Source {
 public:
  /// Blocks of `block` samples. Of each field that is read the last `most_kept` blocks are kept.
  BlockSource(std::shared_ptr<const Source> source, std::uint64_t block, std::size_t most_kept);
  std::uint64_t size() const override { return source_->size(); }
  const std::vector<Dataset::Field>& fields() const override { return source_->fields(); }
  void read(std::span<const std::uint64_t> samples, std::span<Column> columns) const override;

 private:
  /// One field of one block.
  struct Block {
    std::once_flag is_read;
    Column column;
  };
  using Blocks = std::list<std::pair<std::uint64_t, std::shared_ptr<Block>>>;  // the last one used at the front
  struct Kept {
    Blocks blocks;
    std::unordered_map<std::uint64_t, Blocks::iterator> place_of;
  };
  std::shared_ptr<Block> kept(std::size_t field, std::uint64_t number) const;
  std::vector<std::shared_ptr<Block>> kept_of(std::span<const std::uint64_t> samples, std::size_t field) const;
  void read_block(std::size_t field, std::uint64_t number, Block& block) const;
  void read_column(std::span<const std::uint64_t> samples, Column& column) const;

  std::shared_ptr<const Source> source_;
  std::uint64_t block_;
  std::size_t most_kept_;
  mutable std::mutex mutex_;
  mutable std::vector<Kept> kept_;  ///< by the number of the field
};

}  // namespace trainrt::data
