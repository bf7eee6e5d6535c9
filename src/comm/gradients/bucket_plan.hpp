#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <trainrt/gradient_buckets.hpp>

namespace trainrt::comm {

/// A range of memory with gradients of one type that are reduced together.
struct PlannedBucket {
  std::string name;  ///< for messages: "bucket 0 (fc3.bias to fc2.weight)"
  DType dtype = DType::f32;
  std::size_t offset = 0;   ///< bytes from the beginning of the memory
  std::size_t count = 0;    ///< elements, including padding between parameters
  std::size_t members = 0;  ///< number of parameters

  std::size_t bytes() const { return count * size_of(dtype); }
};

/// The assignment of gradients to buckets and memory. Parameters are added from the last to the first, to one open bucket
/// per type; a bucket is full when it has `bucket_bytes` or more. Buckets are in the order in which a backward pass fills
/// them.
struct BucketPlan {
  std::vector<PlannedBucket> buckets;
  std::vector<std::size_t> bucket_of;  ///< bucket of each parameter
  std::vector<std::size_t> offset_of;  ///< offset of each gradient in the memory: bytes, a multiple of 64
  std::size_t bytes = 0;               ///< size of the memory
};

/// Plans the buckets of a model. Throws UsageError if `parameters` is empty, or if a type is not f64, f32, f16 or bf16.
/// Pure function.
BucketPlan plan_buckets(std::span<const GradientBuckets::Parameter> parameters, std::size_t bucket_bytes);

}  // namespace trainrt::comm
