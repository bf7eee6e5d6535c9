#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace trainrt::config {

/// Action if a run restarts with another number of ranks.
enum class OnResize {
  refuse,             ///< the restart fails with an error
  keep_global_batch,  ///< the global batch keeps its size and is split over the present ranks (elastic training)
  keep_batch,         ///< the batch of each rank keeps its size
  same_bits           ///< the number of ranks stays the same on any number of CPUs, so results keep their bits
};

/// Values of the config section [scaling]: the number of ranks, their GPUs and the communication between them.
struct ScalingKeys {
  int num_workers = 0;  ///< required number of ranks; 0: any number
  /// Minimum number of ranks with which the run may restart; 0: the run is not elastic. With OnResize::same_bits: minimum
  /// number of CPUs with which the run continues; 0: any number.
  int min_workers = 0;
  std::optional<OnResize> on_resize_key;
  std::string backend;             ///< name of a communication backend, or "auto"
  std::uint64_t bucket_bytes = 0;  ///< size of the buckets in which gradients are averaged during the backward pass
  bool bf16_on_the_wire = false;   ///< true: f32 gradients are sent as bf16, and summed in f32
  /// true: sums on GPUs use one fixed order, so that they have the same bits for any distribution of the ranks over
  /// nodes and GPUs
  bool deterministic = false;
  std::string gpus_per_worker;     ///< number of GPUs per rank, or "auto"
  bool check_collectives = false;  ///< true: the calls of all ranks are compared before each collective
  /// True: a restart that may change the bits of results is an error. False: such a restart is only a warning.
  bool require_same_bits = false;

  /// Returns the action for a restart with another number of ranks: the value of the config key scaling.on_resize, or its
  /// default, which depends on `min_workers`.
  OnResize on_resize() const {
    return on_resize_key.value_or(min_workers > 0 ? OnResize::keep_global_batch : OnResize::same_bits);
  }
  /// Returns whether all attempts have the same number of ranks, on any number of CPUs.
  bool has_fixed_workers() const { return on_resize() == OnResize::same_bits; }
  /// Returns whether the config itself sets same_bits. If same_bits is only the default, a run without a checkpoint may
  /// start on another number of ranks.
  bool requires_fixed_workers() const { return on_resize_key == OnResize::same_bits; }
  /// Returns whether it is an error to start the run in a way that same_bits does not allow. If same_bits is only the
  /// default, such a start is an error only if require_same_bits is set.
  bool enforces_same_bits() const { return requires_fixed_workers() || (has_fixed_workers() && require_same_bits); }
};

}  // namespace trainrt::config
