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

class DrawByWeight final : public Step {
 public:
  explicit DrawByWeight(std::string field) : field_(std::move(field)) {}
  Effect effect() const override { return Effect::draws; }

  std::vector<Dataset::Field> fields(const std::vector<Dataset::Field>& before) const override {
    const auto& field = before[find_field(before, field_)];
    if (field.varies || element_count(field.sample_shape) != 1 || !is_plain_number(field.dtype))
      throw UsageError(fmt::format("the field '{}' cannot be used as weights; it must have one number per sample", field_));
    return before;
  }

  Result apply(const DatasetPlan& input) const override {
    const auto& fields = input.source->fields();
    const auto at = find_field(fields, field_);
    const auto bits = gather_from_scan(input, at, "draw_by_weight", [&](const TensorView& values) {
      const auto weight = number_at({static_cast<const std::byte*>(values.data), values.bytes()}, fields[at].dtype, 0);
      if (!(weight >= 0) || std::isinf(weight))
        throw UsageError(
            fmt::format("the field '{}' contains the weight {}; weights must be 0 or more and finite", field_, weight));
      return std::bit_cast<std::int64_t>(weight);
    });
    auto sums = std::make_shared<std::vector<double>>();
    sums->reserve(bits.size());
    double sum = 0;
    for (const auto weight : bits) sums->push_back(sum += std::bit_cast<double>(weight));
    if (!(sum > 0) || std::isinf(sum))
      throw UsageError(
          fmt::format("the weights in the field '{}' add up to {}; the sum must be above 0 and finite", field_, sum));
    auto identity = fmt::format("all drawn by {} with digest {}", field_, io::digest_of(std::as_bytes(std::span(*sums))));
    return {input.source, std::move(identity), {}, std::move(sums)};
  }

 private:
  std::string field_;
};

std::shared_ptr<const Step> make_draw(const std::string& text) { return draw_step(trim(text)); }

}  // namespace

std::shared_ptr<const Step> draw_step(std::string field) { return std::make_shared<DrawByWeight>(std::move(field)); }

namespace plugins {

extern const OperationKind draw_by_weight{
    .name = "draw_by_weight",
    .help =
        "draws the samples of each epoch at random, "
        "with repetition and with probabilities in proportion to a field that has one number per sample. "
        "The number of samples does not change. Applied after all other keys that make samples",
    .form = "FIELD",
    .make = make_draw,
    .order = 4};

}  // namespace plugins

}  // namespace trainrt::data
