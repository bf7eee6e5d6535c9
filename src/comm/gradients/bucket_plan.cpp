#include "comm/gradients/bucket_plan.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <trainrt/error.hpp>

namespace trainrt::comm {

namespace {

constexpr std::size_t alignment = 64;

/// The parameters of one gradient bucket, in the order in which a backward pass computes their gradients.
struct BucketMembers {
  std::vector<std::size_t> parameters;
  std::size_t bytes = 0;
};

/// Returns the size of a parameter's gradient in bytes, padded to a multiple of 64. An empty gradient gets 64 bytes, too.
std::size_t bytes_of(const GradientBuckets::Parameter& parameter) {
  const auto bytes = std::max<std::size_t>(parameter.count * size_of(parameter.dtype), 1);
  return (bytes + alignment - 1) / alignment * alignment;
}

void require_gradient_type(const GradientBuckets::Parameter& parameter) {
  constexpr DType known[] = {DType::f64, DType::f32, DType::f16, DType::bf16};
  if (std::find(std::begin(known), std::end(known), parameter.dtype) == std::end(known))
    throw UsageError("the gradient of '" + parameter.name + "' cannot be " + std::string(name_of(parameter.dtype)) +
                     "; valid types: f64, f32, f16, bf16");
}

std::vector<BucketMembers> members_of_buckets(std::span<const GradientBuckets::Parameter> parameters,
                                              std::size_t bucket_bytes) {
  std::vector<BucketMembers> full;
  std::map<DType, BucketMembers> open;
  for (auto i = parameters.size(); i-- > 0;) {
    require_gradient_type(parameters[i]);
    auto& group = open[parameters[i].dtype];
    group.parameters.push_back(i);
    group.bytes += bytes_of(parameters[i]);
    if (group.bytes >= bucket_bytes) full.push_back(std::exchange(group, {}));
  }
  for (auto& [dtype, group] : open)
    if (!group.parameters.empty()) full.push_back(std::move(group));
  // Sorts the buckets in the order in which a backward pass fills them. A bucket is full when the pass reaches the bucket's
  // last parameter.
  std::sort(full.begin(), full.end(),
            [](const BucketMembers& a, const BucketMembers& b) { return a.parameters.back() > b.parameters.back(); });
  return full;
}

std::string name_of_bucket(std::size_t number, const std::string& first, const std::string& last) {
  return "bucket " + std::to_string(number) + " (" + (first == last ? first : first + " to " + last) + ")";
}

}  // namespace

BucketPlan plan_buckets(std::span<const GradientBuckets::Parameter> parameters, std::size_t bucket_bytes) {
  if (parameters.empty()) throw UsageError("GradientBuckets needs at least one parameter");
  BucketPlan plan;
  plan.bucket_of.resize(parameters.size());
  plan.offset_of.resize(parameters.size());
  for (const auto& group : members_of_buckets(parameters, bucket_bytes)) {
    const auto& first = parameters[group.parameters.front()];
    plan.buckets.push_back(
        {.name = name_of_bucket(plan.buckets.size(), first.name, parameters[group.parameters.back()].name),
         .dtype = first.dtype,
         .offset = plan.bytes,
         .count = group.bytes / size_of(first.dtype),
         .members = group.parameters.size()});
    for (const auto parameter : group.parameters) {
      plan.bucket_of[parameter] = plan.buckets.size() - 1;
      plan.offset_of[parameter] = plan.bytes;
      plan.bytes += bytes_of(parameters[parameter]);
    }
  }
  return plan;
}

}  // namespace trainrt::comm
