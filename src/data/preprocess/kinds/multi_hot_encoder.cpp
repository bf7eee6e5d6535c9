#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "data/preprocess/encoding.hpp"
#include "data/preprocess/numbers.hpp"

namespace trainrt::data {

namespace {

/// How often each category is in a sample's list of numbers, as i64; those that were not there are left out.
class MultiHotEncoder final : public Encoding {
 public:
  explicit MultiHotEncoder(Parameters& given)
      : Encoding(given), limits_(limits_from(given.any("max_categories"), columns())) {}

 private:
  CategoryStatistic::Of of() const override { return CategoryStatistic::Of::elements; }
  void require(const Dataset::Field& field) const override { require_list(field); }
  static void require_list(const Dataset::Field& field) {
    if (is_text(field) || !is_plain_number(field.dtype))
      throw UsageError(fmt::format("column '{}' holds {}; it must hold lists of numbers", field.name,
                                   is_text(field) ? "texts" : name_of(field.dtype)));
  }
  std::vector<CategoryStatistic::Counted> kept(const std::string& column, const CategoryStatistic& found) const override {
    return most_frequent_by_value(limits_, column, found);
  }
  Dataset::Field made(std::size_t at, const Dataset::Field& from) const override {
    require_list(from);
    return {from.name, DType::i64, {static_cast<std::int64_t>(categories(at).size())}, false};
  }
  void convert(std::size_t at, const Table::Column& from, std::uint64_t samples, Table::Column& to) const override {
    const auto width = categories(at).size();
    to.values.assign(samples * width * sizeof(std::int64_t), std::byte{0});
    auto* const out = reinterpret_cast<std::int64_t*>(to.values.data());
    const auto each = static_cast<std::size_t>(from.field.varies ? 0 : element_count(from.field.sample_shape));
    std::size_t sample = 0;
    for_each_category(from, [&](std::size_t at_value, const Category* value) {
      if (from.field.varies)
        while (at_value * size_of(from.field.dtype) >= from.ends[sample]) ++sample;
      else
        sample = at_value / each;
      const auto number = value != nullptr ? categories(at).number_of(*value) : Categories::unknown;
      if (number != Categories::unknown) ++out[sample * width + static_cast<std::size_t>(number)];
    });
  }
  CategoryLimits limits_;
};

}  // namespace

namespace plugins {

extern const PreprocessorKind multi_hot_encoder{
    .name = "MultiHotEncoder",
    .help = "counts each category in a list of numbers",
    .parameters = "columns, max_categories, output_columns",
    .make = [](Parameters& given) -> std::unique_ptr<Preprocessing> { return std::make_unique<MultiHotEncoder>(given); }};

}  // namespace plugins

}  // namespace trainrt::data
