#pragma once
#include <cstdint>
#include <future>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "data/source/source.hpp"

namespace trainrt::data {

/// A source that reads blocks of consecutive samples and keeps the most recently read blocks in memory. It is fast for
/// orders that use neighbouring samples of a file close together in time (BlockOrder). Several threads can read different
/// blocks at the same time.
class BlockSource final : public WrappedSource {
 public:
  /// Reads blocks of `block` samples and keeps `max_kept` blocks of each field that is read.
  BlockSource(std::shared_ptr<const Source> source, std::uint64_t block, std::size_t max_kept);
  ~BlockSource() override;
  bool is_resident() const override { return false; }
  void read(std::span<const std::uint64_t> samples, std::span<Column> columns) const override;

 private:
  using Values = std::shared_ptr<const Column>;
  using Blocks = std::unordered_map<std::uint64_t, Values>;  ///< blocks by block number
  struct FieldBlocks;
  void read_block(std::size_t field, std::uint64_t number, std::promise<Values>& promise) const;
  void load(std::size_t field, std::vector<std::uint64_t> numbers, Blocks& into) const;
  void copy(std::span<const std::uint64_t> samples, std::span<const Column* const> found, Column& column) const;
  void read_column(std::span<const std::uint64_t> samples, Column& column) const;

  std::uint64_t block_;
  std::vector<std::unique_ptr<FieldBlocks>> kept_;  ///< the kept blocks of each field
};

}  // namespace trainrt::data
