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

/// Bytes of a block in memory that stays as it is (TensorEntry::steady), as long as its owner is held.
struct SteadyBytes {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;  ///< null: the block has other bytes too, or direct I/O cannot write them from there
};

SteadyBytes steady_bytes_of(const Extent& block, const ShardPlan& plan, const State& state);

/// The bytes of a shard file as they are now: structure, tensors, values, and zeros between. What it is made from must
/// outlive it.
class ShardImage {
 public:
  ShardImage(const ShardPlan& plan, const State& state, device::Copier& copier);

  bool on_gpus() const;

  /// Copies what lies in the window that `into` is, at byte `window` of the file, and returns the digest of the copy; not
  /// for states on GPUs. Each piece is digested while this core's cache still holds it. A digest made later, by another
  /// thread, reads all bytes from memory once more: that slows down the copy and the disk, which need the memory too, and
  /// costs more time in all.
  std::string copy_and_digest(std::span<std::byte> into, std::uint64_t window) const;

  /// The same without a digest. What lies on GPUs is there when what is returned says so.
  device::Events copy(std::span<std::byte> into, std::uint64_t window) const;

 private:
  bool overlay_source(std::span<std::byte> into, std::uint64_t window, const TensorSource& source) const;
  void overlay_values(std::span<std::byte> into, std::uint64_t window) const;
  void structure(std::span<std::byte> into, std::uint64_t at) const;

  const ShardPlan& plan_;
  const State& state_;
  device::Copier& copier_;
  std::vector<std::string> values_;
  std::uint64_t values_begin_ = std::numeric_limits<std::uint64_t>::max();  // in the file
  std::uint64_t values_end_ = 0;
  std::vector<int> gpus_;  // one a tensor, -1: the host
};

}  // namespace trainrt::checkpoint
