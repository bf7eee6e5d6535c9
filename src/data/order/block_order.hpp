#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "data/order/permutation.hpp"

namespace trainrt::data {

/// Parameters of a BlockOrder, a shuffle that reads blocks of consecutive samples, for data that do not fit into
/// memory.
struct Blocks {
  std::uint64_t samples = 0;   ///< number of samples per block, which are consecutive and read at once; 0: no blocks
  std::uint64_t window = 512;  ///< number of blocks per window, which are in memory at the same time
};

/// A shuffle in two steps (CorgiPile: Xu et al., SIGMOD 2022, arXiv 2206.05830). The first step shuffles the blocks. The
/// second step shuffles the samples of each window; a window is `blocks.window` consecutive blocks of the shuffled order.
///
/// To read an epoch in this order, only one window at a time must be in memory. The samples after the last complete block
/// are added to a window that the seed determines. Pure; uses at most a few MiB of memory.
class BlockOrder {
 public:
  BlockOrder() = default;
  BlockOrder(std::uint64_t size, std::uint64_t seed, Blocks blocks);
  std::uint64_t operator[](std::uint64_t position) const;  ///< position < size
  /// Fills `into` with the samples at the positions from `first` on. All these positions must be less than size.
  void list(std::uint64_t first, std::span<std::uint64_t> into) const;
  std::uint64_t window_of(std::uint64_t position) const;

 private:
  std::uint64_t first_of(std::uint64_t window) const;
  std::uint64_t end_of(std::uint64_t window) const;
  Permutation inside(std::uint64_t window) const;
  std::uint64_t block_at(std::uint64_t position) const;
  void list_window(std::uint64_t window, std::uint64_t first, std::span<std::uint64_t> into) const;

  std::uint64_t size_ = 0, seed_ = 0;
  Blocks blocks_;
  std::uint64_t windows_ = 0, rest_ = 0, window_of_rest_ = 0;
  static constexpr std::uint64_t max_prepared = 1 << 16;
  static constexpr std::uint64_t max_listed = 1 << 20;
  Permutation order_of_blocks_;
  std::vector<std::uint32_t> listed_;  ///< order_of_blocks_ as a list; empty for more than max_listed blocks
  std::vector<Permutation> prepared_;  ///< order of the samples of each window; empty for more than max_prepared windows
};

}  // namespace trainrt::data
