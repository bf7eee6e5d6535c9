#include <bit>
#include <cmath>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/text/text.hpp"
#include "data/batches/field_scan.hpp"
#include "data/reshape/operation.hpp"
#include "data/reshape/steps.hpp"
#include "data/text/field_specs.hpp"
#include "data/transform/transform.hpp"

namespace trainrt::data {

namespace {

/// Returns the cumulative weights of the samples. The weights are the values of field `field`.
std::vector<double> sums_of_weights(const DatasetPlan& input, const std::string& field) {
  const auto& fields = input.source->fields();
  const auto at = find_field(fields, field);
  const auto bits = gather_from_scan(input, at, "draw_by_weight", [&](const TensorView& values) {
    const auto weight = number_at({static_cast<const std::byte*>(values.data), values.bytes()}, fields[at].dtype, 0);
    if (!(weight >= 0) || std::isinf(weight))
      throw UsageError(
          fmt::format("the field '{}' contains the weight {}; weights must be 0 or more and finite", field, weight));
    return std::bit_cast<std::int64_t>(weight);
  });
  std::vector<double> sums;
  sums.reserve(bits.size());
  double sum = 0;
  for (const auto weight : bits) sums.push_back(sum += std::bit_cast<double>(weight));
  if (!(sum > 0) || std::isinf(sum))
    throw UsageError(
        fmt::format("the weights in the field '{}' add up to {}; the sum must be above 0 and finite", field, sum));
  return sums;
}

Step make_draw(const std::string& text) { return draw_step(trim(text)); }

}  // namespace

Step draw_step(const std::string& name) {
  const auto fields = [name](const Fields& before) {
    const auto& field = before[find_field(before, name)];
    if (field.varies || element_count(field.sample_shape) != 1 || !is_plain_number(field.dtype))
      throw UsageError(fmt::format("the field '{}' cannot be used as weights; it must have one number per sample", name));
    return before;
  };
  const auto apply = [name](const DatasetPlan& input) -> Step::Result {
    auto sums = std::make_shared<const std::vector<double>>(sums_of_weights(input, name));
    auto identity = fmt::format("all drawn by {} with digest {}", name, io::digest_of(std::as_bytes(std::span(*sums))));
    return {input.source, std::move(identity), {}, std::move(sums)};
  };
  return {Effect::draws, fields, apply};
}

namespace plugins {

extern const OperationKind draw_by_weight{
    .name = "draw_by_weight",
    .help =
        "draws the samples of each epoch at random with repetition; "
        "the probability of a sample is proportional to its number in the field. "
        "The number of samples does not change. Applied after all keys that make new samples",
    .form = "FIELD",
    .make = make_draw,
    .order = 4};

}  // namespace plugins

}  // namespace trainrt::data
