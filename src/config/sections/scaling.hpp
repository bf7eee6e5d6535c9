#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace trainrt::config {

/// Action if a restart has another number of ranks.
enum class OnResize {
  refuse,             ///< an error
  keep_global_batch,  ///< the global batch stays the same and is split over the present ranks (elastic)
  keep_batch          ///< each rank's batch stays the same
};

/// The values of [scaling].
struct ScalingKeys {
  int num_workers = 0;  ///< 0: any number
  int min_workers = 0;  ///< > 0: minimum number of ranks of a restart
  std::optional<OnResize> on_resize_key;
  std::string backend;  ///< name of a comm backend, or "auto"
  std::uint64_t bucket_bytes = 0;
  bool bf16_on_the_wire = false;
  bool deterministic = false;
  std::string gpus_per_worker;  ///< a number, or "auto"
  bool check_collectives = false;

  /// Returns the key's value, or the default that depends on `min_workers`.
  OnResize on_resize() const {
    return on_resize_key.value_or(min_workers > 0 ? OnResize::keep_global_batch : OnResize::refuse);
  }
};

}  // namespace trainrt::config
