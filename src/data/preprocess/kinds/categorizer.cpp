#include "data/preprocess/encoding.hpp"

namespace trainrt::data::plugins {

namespace {

class Categorizer final : public Numbering {
 public:
  static constexpr ParameterSpec parameters[] = {
      columns_parameter,
      {"dtypes", ParameterType::python_only,
       "pandas.CategoricalDtype of columns by name; fit() finds the categories of the other columns", "null"},
      output_columns_parameter};
  using Numbering::Numbering;

 private:
  std::unique_ptr<Statistic> statistic() const override {
    return std::make_unique<CategoryStatistic>(CategoryStatistic::Of::non_missing);
  }
};

}  // namespace

extern const PreprocessorKind categorizer{
    .name = "Categorizer",
    .help =
        "replace each category by its code, from 0 in sorted order, as i64; "
        "missing values and values that did not occur in fit() become -1. A pandas DataFrame gets a categorical column",
    .stats = "unique_values(COLUMN)",
    .parameters = Categorizer::parameters,
    .make = make_preprocessing<Categorizer>};

}  // namespace trainrt::data::plugins
