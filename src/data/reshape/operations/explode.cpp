#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/text/text.hpp"
#include "data/reshape/flat_map.hpp"
#include "data/reshape/operation.hpp"
#include "data/text/field_wishes.hpp"

namespace trainrt::data {

namespace {

/// One sample for each element of a list, or row of an array: what flat_map() does without a function of one's own.
class Explode final : public Operation {
 public:
  explicit Explode(std::string field) : field_(std::move(field)) {}

  std::vector<Dataset::Field> fields(const std::vector<Dataset::Field>& before) const override {
    auto fields = before;
    const auto at = find_field(before, field_);
    fields[at] = element_of(before[at]);
    return fields;
  }

  void apply(DatasetImpl& dataset) const override {
    const auto& before = dataset.source->fields();
    flat_map(dataset, field_, element_of(before[find_field(before, field_)]),
             [](const TensorView& values, std::vector<std::byte>& made) {
               const auto* const bytes = static_cast<const std::byte*>(values.data);
               made.insert(made.end(), bytes, bytes + values.bytes());
             });
  }

 private:
  static Dataset::Field element_of(const Dataset::Field& list) {
    if (list.varies && list.dtype == DType::u8)
      throw UsageError(fmt::format("the field '{}' holds texts, and no lists", list.name));
    if (list.varies) return {list.name, list.dtype, {}};
    if (list.sample_shape.empty())
      throw UsageError(fmt::format("the field '{}' holds one value a sample, and no lists", list.name));
    return {list.name, list.dtype, {list.sample_shape.begin() + 1, list.sample_shape.end()}};
  }

  std::string field_;
};

std::unique_ptr<Operation> make_explode(const std::string& text) { return std::make_unique<Explode>(trim(text)); }

}  // namespace

namespace plugins {

extern const OperationKind explode{.name = "explode",
                                   .help =
                                       "makes one sample of each element of the lists in a field, or of each row of its "
                                       "arrays; the other fields are repeated. The first of the keys that make samples",
                                   .form = "FIELD",
                                   .make = make_explode,
                                   .place = -2};

}  // namespace plugins

}  // namespace trainrt::data
