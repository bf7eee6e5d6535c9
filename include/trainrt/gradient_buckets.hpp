#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include <trainrt/communicator.hpp>
#include <trainrt/export.hpp>

namespace trainrt {

/// Gradients in one run of memory that the communicator reduces in place: the parameters' grads are views of it, so
/// averaging copies nothing. Parameters are laid out in the given order, each 64-byte aligned, and averaged bucket by
/// bucket.
class TRAINRT_API GradientBuckets {
 public:
  /// `counts[i]` elements of parameter i, all of `dtype`. The memory is zeroed, and lives as long as this object.
  GradientBuckets(Communicator& communicator, std::span<const std::size_t> counts, DType dtype = DType::f32,
                  std::size_t bucket_bytes = std::size_t{4} << 20);

  void* gradient(std::size_t parameter) const;  ///< where the gradient of that parameter lies
  void zero();
  /// Replaces every gradient by its mean over the ranks. Collective.
  void average();

 private:
  Communicator& communicator_;
  DType dtype_;
  Memory memory_;
  std::size_t total_count_ = 0;
  std::size_t bucket_count_ = 0;  ///< elements of a bucket
  std::vector<std::size_t> offsets_;
};

}  // namespace trainrt
