#include <algorithm>

#include "data/preprocess/encoding.hpp"
#include "data/preprocess/numbers.hpp"

namespace trainrt::data {

namespace {

/// As many u8 as there are categories: 1 at the place of the value's, 0 elsewhere, and for one that was not there.
class OneHotEncoder final : public Encoding {
 public:
  explicit OneHotEncoder(Parameters& given)
      : Encoding(given), limits_(limits_from(given.any("max_categories"), columns())) {}

 private:
  std::vector<CategoryStatistic::Counted> kept(const std::string& column, const CategoryStatistic& found) const override {
    return most_frequent_by_value(limits_, column, found);
  }
  Dataset::Field made(std::size_t at, const Dataset::Field& from) const override {
    require_category(from);
    return {from.name, DType::u8, {static_cast<std::int64_t>(categories(at).size())}, false};
  }
  void convert(std::size_t at, const Table::Column& from, std::uint64_t samples, Table::Column& to) const override {
    const auto width = categories(at).size();
    to.values.assign(samples * width, std::byte{0});
    for_each_category(from, [&](std::size_t sample, const Category* value) {
      const auto number = value != nullptr ? categories(at).number_of(*value) : Categories::unknown;
      if (number != Categories::unknown) to.values[sample * width + static_cast<std::size_t>(number)] = std::byte{1};
    });
  }
  CategoryLimits limits_;
};

}  // namespace

namespace plugins {

extern const PreprocessorKind one_hot_encoder{
    .name = "OneHotEncoder",
    .help = "makes a vector of a category: 1 at its place, 0 elsewhere",
    .parameters = "columns, max_categories, output_columns",
    .make = [](Parameters& given) -> std::unique_ptr<Preprocessing> { return std::make_unique<OneHotEncoder>(given); }};

}  // namespace plugins

}  // namespace trainrt::data
