#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/text/text.hpp"
#include "data/reshape/operation.hpp"
#include "data/reshape/steps.hpp"
#include "data/text/field_specs.hpp"

namespace trainrt::data {

namespace {

/// Makes a sample from each element of a list, or from each row of an array, by flat_map().
class Explode final : public Step {
 public:
  explicit Explode(std::string field) : field_(std::move(field)) {}

  std::vector<Dataset::Field> fields(const std::vector<Dataset::Field>& before) const override {
    return flat_map_of(before)->fields(before);
  }
  Result apply(const DatasetPlan& input) const override { return flat_map_of(input.source->fields())->apply(input); }

 private:
  std::shared_ptr<const Step> flat_map_of(const std::vector<Dataset::Field>& before) const {
    const auto append = [](const TensorView& values, std::vector<std::byte>& made) {
      const auto* const bytes = static_cast<const std::byte*>(values.data);
      made.insert(made.end(), bytes, bytes + values.bytes());
    };
    return flat_map_step(field_, element_of(before[find_field(before, field_)]), append);
  }

  static Dataset::Field element_of(const Dataset::Field& list) {
    if (list.varies && list.dtype == DType::u8)
      throw UsageError(fmt::format("the field '{}' has texts, not lists", list.name));
    if (list.varies) return {list.name, list.dtype, {}};
    if (list.sample_shape.empty())
      throw UsageError(fmt::format("the field '{}' has one value per sample, not a list", list.name));
    return {list.name, list.dtype, {list.sample_shape.begin() + 1, list.sample_shape.end()}};
  }

  std::string field_;
};

std::shared_ptr<const Step> make_explode(const std::string& text) { return std::make_shared<Explode>(trim(text)); }

}  // namespace

namespace plugins {

extern const OperationKind explode{.name = "explode",
                                   .help =
                                       "makes one sample of each element of the lists in a field, "
                                       "or of each row of its arrays; the other fields are repeated. Applied after where",
                                   .form = "FIELD",
                                   .make = make_explode,
                                   .order = -1};

}  // namespace plugins

}  // namespace trainrt::data
