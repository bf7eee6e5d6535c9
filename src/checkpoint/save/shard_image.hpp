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

/// The bytes of a block in memory that does not change while its owner exists (TensorEntry::steady).
struct SteadyBytes {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;  ///< null if the block must be copied
};

/// Returns where a block can be written from without a copy. `owner` is null unless all bytes of the block belong to one
/// steady tensor and are aligned for direct I/O.

SteadyBytes steady_bytes_of(const BlockExtent& block, const ShardPlan& plan, const State& state);

/// Provides the current bytes of a shard file: HDF5 structure, tensors, values, and zeros between. The constructor's
/// arguments must outlive it.
class ShardImage {
 public:
  ShardImage(const ShardPlan& plan, const State& state, device::Copier& copier);

  /// Returns whether any tensor of the state is in GPU memory.
  bool on_gpus() const;

  /// Copies into.size() bytes of the file, from byte `window` on, and returns their digest. Must not be called if
  /// on_gpus(). Each 128 KiB are digested while they are in the cache of this core. A later digest by another thread would
  /// read all bytes from memory again, which slows down the copy and the disk and takes longer in total.
  std::string copy_and_digest(std::span<std::byte> into, std::uint64_t window) const;

  /// Copies the same bytes without a digest. Bytes from GPUs are complete when the returned events are.
  device::Events copy(std::span<std::byte> into, std::uint64_t window) const;

 private:
  bool overlay_source(std::span<std::byte> into, std::uint64_t window, const TensorSource& source) const;
  void overlay_values(std::span<std::byte> into, std::uint64_t window) const;
  void structure(std::span<std::byte> into, std::uint64_t at) const;

  const ShardPlan& plan_;
  const State& state_;
  device::Copier& copier_;
  std::vector<std::string> values_;
  std::uint64_t values_begin_ = std::numeric_limits<std::uint64_t>::max();  // position in the file
  std::uint64_t values_end_ = 0;
  std::vector<int> gpus_;  // gpu_of() each tensor
};

}  // namespace trainrt::checkpoint
