#pragma once
#include <cstddef>
#include <cstdint>

namespace trainrt {

// Options as plain data, which the config sets and other layers use.

/// The number of shard files of a checkpoint: one per rank, one per node, or a single one.
enum class FileLayout : std::uint8_t { rank, node, single };

/// The options of averaging gradients over the ranks (GradientBuckets).
struct GradientOptions {
  std::size_t bucket_bytes = std::size_t{4} << 20;  ///< maximum bytes per bucket (scaling.bucket_size)
  /// Send f32 gradients as bf16: round to bf16, sum in f32, round the result (scaling.gradient_wire).
  bool bf16_on_the_wire = false;
};

}  // namespace trainrt
