#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <trainrt/gradient_buckets.hpp>

namespace trainrt::comm {

/// A gradient bucket: a contiguous range of memory with gradients of one element type that are reduced together.
struct PlannedBucket {
  std::string name;  ///< for messages: "bucket 0 (fc3.bias to fc2.weight)"
  DType dtype = DType::f32;
  std::size_t offset = 0;   ///< offset of the bucket in the gradient memory, in bytes
  std::size_t count = 0;    ///< number of elements, including padding between gradients
  std::size_t members = 0;  ///< number of parameters in the bucket

  std::size_t bytes() const { return count * size_of(dtype); }
};

/// The assignment of a model's gradients to buckets and memory. Parameters are added from the last to the first, to one
/// open bucket per element type. A bucket is full when it has `bucket_bytes` bytes or more. Buckets are in the order in
/// which a backward pass fills them.
struct BucketPlan {
  std::vector<PlannedBucket> buckets;
  std::vector<std::size_t> bucket_of;  ///< index of the bucket of each parameter
  std::vector<std::size_t> offset_of;  ///< offset of each gradient in the gradient memory: bytes, a multiple of 64
  std::size_t bytes = 0;               ///< size of the gradient memory in bytes
};

/// Plans the gradient buckets of a model. `bucket_bytes`: size at which a bucket is full. Throws UsageError if `parameters`
/// is empty, or if an element type is not f64, f32, f16 or bf16. Pure function.
BucketPlan plan_buckets(std::span<const GradientBuckets::Parameter> parameters, std::size_t bucket_bytes);

}  // namespace trainrt::comm
