#include <algorithm>
#include <cmath>

#include "data/preprocess/gathering.hpp"
#include "data/preprocess/numbers.hpp"

namespace trainrt::data {

namespace {

/// Divides the numbers of a sample by their norm; zeros stay zeros.
class Normalizer final : public Gathering {
 public:
  explicit Normalizer(Parameters& given) : Normalizer(given, given.names("columns")) {}

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
  Normalizer(Parameters& given, const std::vector<std::string>& columns)
      : Gathering(columns, given.names("output_columns", columns)),
        norm_(given.choice("norm", {"l1", "l2", "max"}, "l2")) {}

  /// Column by column, in their order: so NumPy adds too.
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
    std::vector<Table::Column> made;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      made.push_back({{outputs()[c], real_of(columns[c]->field.dtype), {}, false}, {}, {}});
      fill_reals(made.back(), table.samples, [&](std::size_t i) { return values[c][i] / norms[i]; });
    }
    for (auto& column : made) put_column(table, std::move(column));
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

namespace plugins {

extern const PreprocessorKind normalizer{
    .name = "Normalizer",
    .help = "divides the numbers of a sample by their norm",
    .parameters = "columns, norm (l1, l2, max), output_columns",
    .make = [](Parameters& given) -> std::unique_ptr<Preprocessing> { return std::make_unique<Normalizer>(given); }};

}  // namespace plugins

}  // namespace trainrt::data
