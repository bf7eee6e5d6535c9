#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "data/order/permutation.hpp"

namespace trainrt::data {

/// How samples are shuffled that are too many for memory and lie on a disk that is slow at single ones.
struct Blocks {
  std::uint64_t samples = 0;   ///< neighbours in the files that are read in one piece; 0: there are no blocks
  std::uint64_t window = 512;  ///< blocks that are in memory together
};

/// A shuffle in two steps (CorgiPile: Xu et al., SIGMOD 2022, arXiv 2206.05830): the blocks are shuffled, and the samples
/// of each `window` blocks that come together are shuffled among themselves. So a walk needs only those in memory. The
/// samples behind the last whole block join a window that the seed chooses. Pure; a few MiB of memory at most.
class BlockOrder {
 public:
  BlockOrder() = default;
  BlockOrder(std::uint64_t size, std::uint64_t seed, Blocks blocks);
  std::uint64_t operator[](std::uint64_t position) const;  ///< position < size
  /// The samples at `first` and the positions behind it, all < size.
  void list(std::uint64_t first, std::span<std::uint64_t> into) const;
  std::uint64_t window_of(std::uint64_t position) const;

 private:
  std::uint64_t first_of(std::uint64_t window) const;
  std::uint64_t end_of(std::uint64_t window) const;
  Permutation inside(std::uint64_t window) const;
  std::uint64_t block_at(std::uint64_t place) const;
  void list_window(std::uint64_t window, std::uint64_t first, std::span<std::uint64_t> into) const;

  std::uint64_t size_ = 0, seed_ = 0;
  Blocks blocks_;
  std::uint64_t windows_ = 0, rest_ = 0, window_of_rest_ = 0;
  static constexpr std::uint64_t max_prepared = 1 << 16;
  static constexpr std::uint64_t max_listed = 1 << 20;
  Permutation order_of_blocks_;
  std::vector<std::uint32_t> listed_;  ///< the same, if there are not too many blocks
  std::vector<Permutation> prepared_;  ///< of the samples of each window, if there are not too many windows
};

}  // namespace trainrt::data
