#pragma once
#include <cstddef>
#include <cstdint>

namespace trainrt {

// Options that are set by config keys and used by several layers of the runtime.

/// The number of shard files in a checkpoint: one file per rank, one file per node, or a single file.
enum class FileLayout : std::uint8_t { rank, node, single };

/// How to treat files of the same name but different content in the directories of several ranks. `error` ends the run.
/// `rank0` stores the file of the lowest of these ranks under that name, and the other files in files/.other_ranks/RANK/
/// of the checkpoint.
enum class SameFiles : std::uint8_t { error, rank0 };

/// The options for averaging gradients over the ranks (GradientBuckets).
struct GradientOptions {
  std::size_t bucket_bytes = std::size_t{4} << 20;  ///< maximum bytes of a bucket of gradients (scaling.bucket_size)
  /// Send f32 gradients between ranks as bf16: round them to bf16, sum in f32, and round the result
  /// (scaling.gradient_wire).
  bool bf16_on_the_wire = false;
};

}  // namespace trainrt
