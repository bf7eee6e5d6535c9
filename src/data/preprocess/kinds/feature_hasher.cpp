#include "data/preprocess/category.hpp"
#include "data/preprocess/columnwise.hpp"
#include "data/preprocess/numbers.hpp"

namespace trainrt::data::plugins {

namespace {

class FeatureHasher final : public Combining {
 public:
  static constexpr ParameterSpec parameters[] = {
      columns_parameter, num_features_parameter, {"output_column", ParameterType::name, "name of the new column"}};

  explicit FeatureHasher(const Parameters& given)
      : Combining(given.names("columns"), {given.text("output_column")}), width_(given.get<std::uint32_t>("num_features")) {
    for (const auto& column : columns()) features_.push_back(hashed_feature(column, width_));
  }

  Fields fields(const Fields& before) const override {
    for (const auto& field : own_fields(before)) require_number(field);
    auto after = before;
    put_field(after, output());
    return after;
  }

 private:
  Dataset::Field output() const { return {outputs().front(), DType::f64, {width_}, false}; }

  void change(Table& table) const override {
    Table::Column sums{output(), {}, {}};
    auto* const out = zeroed<double>(sums, table.samples * width_);
    const auto own = own_columns(table);
    for (std::size_t c = 0; c < own.size(); ++c) {
      const auto values = doubles_of(*own[c]);
      for (std::size_t i = 0; i < values.size(); ++i) out[i * width_ + features_[c]] += values[i];
    }
    put_column(table, std::move(sums));
  }

  std::uint32_t width_;
  std::vector<std::size_t> features_;  ///< for each of columns(), the position in the output to which it is added
};

}  // namespace

extern const PreprocessorKind feature_hasher{
    .name = "FeatureHasher",
    .help =
        "add columns of numbers into one vector of `num_features` numbers, as f64: "
        "each column is added at the position that the SHA-256 hash of its name selects",
    .parameters = FeatureHasher::parameters,
    .make = make_preprocessing<FeatureHasher>};

}  // namespace trainrt::data::plugins
