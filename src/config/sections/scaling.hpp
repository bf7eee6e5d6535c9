#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace trainrt::config {

/// What a restart on another number of ranks makes of the global batch.
enum class OnResize {
  refuse,             ///< it is an error
  keep_global_batch,  ///< it stays what it was, split over the ranks that are there (elastic)
  keep_batch          ///< a rank's batch stays what it was
};

/// The values of [scaling].
struct ScalingKeys {
  int num_workers = 0;  ///< 0: as many as were launched
  int min_workers = 0;  ///< > 0: a restart may go on with so few
  std::optional<OnResize> given_on_resize;
  std::string backend;  ///< "auto", or a comm backend's name
  std::uint64_t bucket_bytes = 0;
  bool bf16_on_the_wire = false;
  bool deterministic = false;
  std::string gpus_per_worker;  ///< "auto", or a number
  bool check = false;

  OnResize on_resize() const {
    return given_on_resize.value_or(min_workers > 0 ? OnResize::keep_global_batch : OnResize::refuse);
  }
};

}  // namespace trainrt::config
