#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <trainrt/state.hpp>

#include "checkpoint/save/shard_plan.hpp"
#include "device/copier.hpp"

namespace trainrt::checkpoint {

/// The memory of a block that can be written to the shard file without a copy. It belongs to a tensor that does not
/// change while `owner` is held (TensorEntry::steady).
struct SteadyBytes {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;  ///< keeps the memory valid; null: the block must be copied, and `bytes` is empty
};

/// Returns the memory that a block can be written from without a copy. This requires that all bytes of the block belong to
/// one tensor with TensorEntry::steady, and that their address is aligned for direct I/O. Otherwise the result is empty.
SteadyBytes steady_bytes_of(const BlockExtent& block, const ShardPlan& plan, const State& state);

/// Provides the bytes that a shard file must contain for the current State: HDF5 structure, tensors, values, and zeros
/// between them. The arguments of the constructor must outlive the ShardImage.
class ShardImage {
 public:
  ShardImage(const ShardPlan& plan, const State& state, device::Copier& copier);

  /// Returns whether any tensor of the state is in GPU memory.
  bool on_gpus() const;

  /// Copies into.size() bytes of the file, from offset `window` on, into `into`, and returns their digest. Must not be
  /// called if on_gpus() returns true. The digest is computed in pieces of 128 KiB, while a piece is in the CPU cache. This
  /// is faster than a digest by another thread, which would read all bytes from memory again.
  std::string copy_and_digest(std::span<std::byte> into, std::uint64_t window) const;

  /// Copies into.size() bytes of the file, from offset `window` on, into `into`, without a digest. Copies from GPUs
  /// continue in the background; they are complete when the returned events are reached.
  device::Events copy(std::span<std::byte> into, std::uint64_t window) const;

 private:
  bool overlay_source(std::span<std::byte> into, std::uint64_t window, const TensorSource& source) const;
  void overlay_values(std::span<std::byte> into, std::uint64_t window) const;
  void structure(std::span<std::byte> into, std::uint64_t at) const;

  const ShardPlan& plan_;
  const State& state_;
  device::Copier& copier_;
  std::vector<std::string> values_;
  std::uint64_t values_begin_ = std::numeric_limits<std::uint64_t>::max();  // offset in the file of the first value
  std::uint64_t values_end_ = 0;                                            // offset in the file after the last value
  std::vector<int> gpus_;  // one per tensor of the State: number of its GPU, -1 for host memory (gpu_of())
};

}  // namespace trainrt::checkpoint
