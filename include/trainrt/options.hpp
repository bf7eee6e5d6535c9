#pragma once
#include <cstddef>
#include <cstdint>

namespace trainrt {

// Options as plain data: what a config sets, and who uses it need not be known to read them.

/// How many shard files a checkpoint has: one a rank, one a node, or one.
enum class FileLayout : std::uint8_t { rank, node, single };

/// Of the gradients' average over the ranks.
struct GradientOptions {
  std::size_t bucket_bytes = std::size_t{4} << 20;  ///< scaling.bucket_size
  /// scaling.gradient_wire: f32 gradients are rounded to bf16, summed in f32, rounded again
  bool bf16_on_the_wire = false;
};

}  // namespace trainrt
