#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "data/preprocess/encoding.hpp"
#include "data/preprocess/numbers.hpp"

namespace trainrt::data::plugins {

namespace {

class MultiHotEncoder final : public LimitedEncoding {
 public:
  using LimitedEncoding::LimitedEncoding;

 private:
  void require(const Dataset::Field& field) const override {
    if (is_text(field) || !is_plain_number(field.dtype))
      throw UsageError(fmt::format("column '{}' contains {}; it must contain lists of numbers", field.name,
                                   is_text(field) ? "texts" : name_of(field.dtype)));
  }
  Dataset::Field output(std::size_t at, const Dataset::Field& from) const override {
    return {from.name, DType::i64, {static_cast<std::int64_t>(categories(at).size())}, false};
  }
  void convert(std::size_t at, const Table::Column& from, std::uint64_t samples, Table::Column& to) const override {
    const auto width = categories(at).size();
    auto* const out = zeroed<std::int64_t>(to, samples * width);
    const auto length = static_cast<std::size_t>(from.field.varies ? 0 : element_count(from.field.sample_shape));
    std::size_t sample = 0;
    for_each_category(from, [&](std::size_t index, const Category* value) {
      if (from.field.varies)
        while (index * size_of(from.field.dtype) >= from.ends[sample]) ++sample;
      else
        sample = index / length;
      const auto number = value != nullptr ? categories(at).number_of(*value) : Categories::unknown;
      if (number != Categories::unknown) ++out[sample * width + static_cast<std::size_t>(number)];
    });
  }
};

}  // namespace

extern const PreprocessorKind multi_hot_encoder{
    .name = "MultiHotEncoder",
    .help =
        "replace each list of numbers by the counts of the categories in it, as i64; "
        "values that did not occur in fit() are not counted",
    .stats = "unique_values(COLUMN)",
    .parameters = MultiHotEncoder::parameters,
    .make = make_preprocessing<MultiHotEncoder>};

}  // namespace trainrt::data::plugins
