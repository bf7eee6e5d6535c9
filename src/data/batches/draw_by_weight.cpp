#include "data/batches/draw_by_weight.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "data/batches/field_walk.hpp"
#include "data/text/field_specs.hpp"
#include "data/transform/transform.hpp"
#include "io/files/digest.hpp"

namespace trainrt::data {

void require_weights(const Dataset::Field& field) {
  if (field.varies || element_count(field.sample_shape) != 1 || !is_plain_number(field.dtype))
    throw UsageError(fmt::format("the field '{}' holds no weights: one number a sample is needed", field.name));
}

void draw_by_weight(DatasetImpl& dataset, std::string_view field) {
  require_not_walked(dataset, "draw_by_weight()");
  if (!dataset.mixed.empty()) throw UsageError("draw_by_weight() of a dataset that mixes sources by weights");
  const auto at = find_field(dataset.source->fields(), field);
  const auto& found = dataset.source->fields()[at];
  require_weights(found);
  const auto bits = seen_together(dataset, at, "draw_by_weight", [&](const TensorView& values) {
    const auto weight = number_at({static_cast<const std::byte*>(values.data), values.bytes()}, found.dtype, 0);
    if (!(weight >= 0) || std::isinf(weight))
      throw UsageError(fmt::format("the field '{}' holds the weight {}", field, weight));
    return std::bit_cast<std::int64_t>(weight);
  });
  auto sums = std::make_shared<std::vector<double>>();
  sums->reserve(bits.size());
  double sum = 0;
  for (const auto weight : bits) sums->push_back(sum += std::bit_cast<double>(weight));
  if (!(sum > 0) || std::isinf(sum))
    throw UsageError(fmt::format("the weights in the field '{}' add up to {}", field, sum));
  dataset.filter_text += fmt::format("{}all drawn by {} with digest {}", dataset.filter_text.empty() ? "" : ", of these ",
                                     field, io::digest_of(std::as_bytes(std::span(*sums))));
  dataset.weight_sums = std::move(sums);
  dataset.weight_field = field;
}

void draw_again(DatasetImpl& dataset) {
  if (dataset.weight_sums) draw_by_weight(dataset, std::string(dataset.weight_field));
}

}  // namespace trainrt::data
