#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <trainrt/gradient_buckets.hpp>

namespace trainrt::comm {

/// Gradients that are reduced together: one run of elements of one type.
struct PlannedBucket {
  std::string name;  ///< for messages: "bucket 0 (fc3.bias to fc2.weight)"
  DType dtype = DType::f32;
  std::size_t offset = 0;  ///< bytes into the memory
  std::size_t count = 0;   ///< elements, with what aligns the parameters
  std::size_t members = 0;

  std::size_t bytes() const { return count * size_of(dtype); }
};

/// Where each gradient lies. Parameters are taken from the last to the first into one open bucket a type; a bucket is full
/// when it holds `bucket_bytes` or more. Buckets are in the order in which a backward pass fills them.
struct BucketPlan {
  std::vector<PlannedBucket> buckets;
  std::vector<std::size_t> bucket_of;  ///< of each parameter
  std::vector<std::size_t> offset_of;  ///< of each parameter: bytes into the memory, a multiple of 64
  std::size_t bytes = 0;
};

/// Throws UsageError for a type that gradients do not have, and if there is no parameter.
BucketPlan plan_buckets(std::span<const GradientBuckets::Parameter> parameters, std::size_t bucket_bytes);

}  // namespace trainrt::comm
