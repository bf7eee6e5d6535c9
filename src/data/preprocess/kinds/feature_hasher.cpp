#include "data/preprocess/gathering.hpp"
#include "data/preprocess/hashed_feature.hpp"
#include "data/preprocess/numbers.hpp"

namespace trainrt::data {

namespace {

/// Adds each column's number at the place that the column's name hashes to: a vector of f64 of a width of choice.
class FeatureHasher final : public Gathering {
 public:
  explicit FeatureHasher(Parameters& given)
      : Gathering(given.names("columns"), {given.text("output_column")}),
        width_(static_cast<std::uint32_t>(given.whole("num_features", 1, 1 << 20))) {
    for (const auto& column : columns()) places_.push_back(hashed_feature(column, width_));
  }

  Fields fields(const Fields& before) const override {
    for (const auto& field : own_fields(before)) require_number(field);
    auto after = before;
    put_field(after, {outputs().front(), DType::f64, {width_}, false});
    return after;
  }

 private:
  void change(Table& table) const override {
    Table::Column made{{outputs().front(), DType::f64, {width_}, false}, {}, {}};
    made.values.resize(table.samples * width_ * sizeof(double));
    auto* const out = reinterpret_cast<double*>(made.values.data());
    const auto own = own_columns(table);
    for (std::size_t c = 0; c < own.size(); ++c) {
      const auto values = doubles_of(*own[c]);
      for (std::size_t i = 0; i < values.size(); ++i) out[i * width_ + places_[c]] += values[i];
    }
    put_column(table, std::move(made));
  }

  std::uint32_t width_;
  std::vector<std::size_t> places_;
};

}  // namespace

namespace plugins {

extern const PreprocessorKind feature_hasher{
    .name = "FeatureHasher",
    .help = "adds columns of numbers into a vector, at places that their names hash to",
    .parameters = "columns, num_features, output_column",
    .make = [](Parameters& given) -> std::unique_ptr<Preprocessing> { return std::make_unique<FeatureHasher>(given); }};

}  // namespace plugins

}  // namespace trainrt::data
