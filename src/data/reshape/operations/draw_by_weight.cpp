#include "data/batches/draw_by_weight.hpp"
#include "core/text/text.hpp"
#include "data/reshape/operation.hpp"
#include "data/text/field_wishes.hpp"

namespace trainrt::data {

namespace {

class DrawByWeight final : public Operation {
 public:
  explicit DrawByWeight(std::string field) : field_(std::move(field)) {}

  std::vector<Dataset::Field> fields(const std::vector<Dataset::Field>& before) const override {
    require_weights(before[find_field(before, field_)]);
    return before;
  }

  void apply(DatasetImpl& dataset) const override { data::draw_by_weight(dataset, field_); }

 private:
  std::string field_;
};

std::unique_ptr<Operation> make_draw(const std::string& text) { return std::make_unique<DrawByWeight>(trim(text)); }

}  // namespace

namespace plugins {

extern const OperationKind draw_by_weight{
    .name = "draw_by_weight",
    .help =
        "each epoch draws as many samples as there are, in proportion to the number that each has in a field, with "
        "repetition. The last of the keys that make samples",
    .form = "FIELD",
    .make = make_draw,
    .place = 4};

}  // namespace plugins

}  // namespace trainrt::data
