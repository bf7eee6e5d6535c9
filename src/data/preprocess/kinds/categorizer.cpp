#include "data/preprocess/encoding.hpp"

namespace trainrt::data::plugins {

constexpr ParameterSpec categorizer_parameters[] = {
    columns_parameter,
    {"dtypes", ParameterType::python_only,
     "dict with a pandas.CategoricalDtype for each column with known categories; "
     "fit() finds the categories of other columns",
     "null"},
    output_columns_parameter};

extern const PreprocessorKind categorizer{
    .name = "Categorizer",
    .help =
        "replace each category by its code, from 0 in sorted order, as i64; "
        "missing values and values that did not occur in fit() become -1. "
        "In a pandas DataFrame, the column becomes categorical",
    .stats = "unique_values(COLUMN)",
    .parameters = categorizer_parameters,
    .make = [](const Parameters& given) { return make_encoder(given, {.ignores_missing = true}); }};

}  // namespace trainrt::data::plugins
