#include "comm/gradients/bucket_plan.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <trainrt/error.hpp>

namespace trainrt::comm {

namespace {

constexpr std::size_t alignment = 64;

/// The parameters of a bucket, the last of the model first.
struct Group {
  std::vector<std::size_t> parameters;
  std::size_t bytes = 0;
};

/// With what aligns the next one; an empty gradient has a place too.
std::size_t bytes_of(const GradientBuckets::Parameter& parameter) {
  const auto bytes = std::max<std::size_t>(parameter.count * size_of(parameter.dtype), 1);
  return (bytes + alignment - 1) / alignment * alignment;
}

void require_gradient_type(const GradientBuckets::Parameter& parameter) {
  constexpr DType known[] = {DType::f64, DType::f32, DType::f16, DType::bf16};
  if (std::find(std::begin(known), std::end(known), parameter.dtype) == std::end(known))
    throw UsageError("the gradient of '" + parameter.name + "' cannot be " + std::string(name_of(parameter.dtype)) +
                     "; gradients are f64, f32, f16 or bf16");
}

std::vector<Group> groups_of(std::span<const GradientBuckets::Parameter> parameters, std::size_t bucket_bytes) {
  std::vector<Group> full;
  std::map<DType, Group> open;
  for (auto i = parameters.size(); i-- > 0;) {
    require_gradient_type(parameters[i]);
    auto& group = open[parameters[i].dtype];
    group.parameters.push_back(i);
    group.bytes += bytes_of(parameters[i]);
    if (group.bytes >= bucket_bytes) full.push_back(std::exchange(group, {}));
  }
  for (auto& [dtype, group] : open)
    if (!group.parameters.empty()) full.push_back(std::move(group));
  // A group is complete with its last parameter: the one that the backward pass comes to last.
  std::sort(full.begin(), full.end(),
            [](const Group& a, const Group& b) { return a.parameters.back() > b.parameters.back(); });
  return full;
}

std::string name_of_bucket(std::size_t number, const std::string& first, const std::string& last) {
  return "bucket " + std::to_string(number) + " (" + (first == last ? first : first + " to " + last) + ")";
}

}  // namespace

BucketPlan plan_buckets(std::span<const GradientBuckets::Parameter> parameters, std::size_t bucket_bytes) {
  if (parameters.empty()) throw UsageError("there is no parameter whose gradient could be averaged");
  BucketPlan plan;
  plan.bucket_of.resize(parameters.size());
  plan.offset_of.resize(parameters.size());
  for (const auto& group : groups_of(parameters, bucket_bytes)) {
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
