#include <algorithm>
#include <cmath>

#include "data/preprocess/columnwise.hpp"
#include "data/preprocess/numbers.hpp"

namespace trainrt::data::plugins {

namespace {

class Normalizer final : public Combining {
 public:
  static constexpr ParameterSpec parameters[] = {
      columns_parameter,
      {"norm", ParameterType::choice,
       "the norm: l1 is the sum of the absolute values, l2 the square root of the sum of squares, "
       "and max the maximum absolute value",
       "\"l2\"", "l1, l2, max"},
      keyword_only(output_columns_parameter)};

  explicit Normalizer(const Parameters& given)
      : Combining(given.names("columns"), given.names("output_columns")), norm_(given.text("norm")) {}

  Fields fields(const Fields& before) const override {
    auto after = before;
    const auto own = own_fields(before);
    for (std::size_t i = 0; i < own.size(); ++i) {
      require_number(own[i]);
      put_field(after, {outputs()[i], real_of(own[i].dtype), {}, false});
    }
    return after;
  }

 private:
  /// Adds up the norms column by column, in the order of the columns, because this order gives the same bits as NumPy.
  void change(Table& table) const override {
    const auto columns = own_columns(table);
    std::vector<double> norms(table.samples);
    std::vector<std::vector<double>> values;
    for (const auto* column : columns) {
      values.push_back(doubles_of(*column));
      for (std::size_t i = 0; i < norms.size(); ++i) add(values.back()[i], norms[i]);
    }
    for (auto& norm : norms) {
      if (norm_ == "l2") norm = std::sqrt(norm);
      if (norm == 0) norm = 1;
    }
    std::vector<Table::Column> results;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      results.push_back({{outputs()[c], real_of(columns[c]->field.dtype), {}, false}, {}, {}});
      fill_reals(results.back(), table.samples, [&](std::size_t i) { return values[c][i] / norms[i]; });
    }
    for (auto& column : results) put_column(table, std::move(column));
  }

  void add(double value, double& norm) const {
    if (norm_ == "l2")
      norm += value * value;
    else if (norm_ == "l1")
      norm += std::fabs(value);
    else if (std::isnan(value) || std::fabs(value) > norm)
      norm = std::fabs(value);
  }

  std::string norm_;
};

}  // namespace

extern const PreprocessorKind normalizer{
    .name = "Normalizer",
    .help = "divide the numbers of each sample, over all columns, by their norm; a sample of zeros stays unchanged",
    .parameters = Normalizer::parameters,
    .make = make_preprocessing<Normalizer>};

}  // namespace trainrt::data::plugins
