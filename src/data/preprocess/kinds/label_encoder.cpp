#include "data/preprocess/encoding.hpp"

namespace trainrt::data::plugins {

constexpr ParameterSpec label_encoder_parameters[] = {
    {"label_column", ParameterType::name_or_names, "name of the column with the labels"},
    keyword_only({"output_column", ParameterType::name_or_names,
                  "name of the new column; by default, it replaces the column with the labels", "=label_column"})};

extern const PreprocessorKind label_encoder{
    .name = "LabelEncoder",
    .help =
        "replace each label by its number, from 0 in sorted order, as i64; a label that did not occur in fit() is an error",
    .stats = "unique_values(COLUMN)",
    .parameters = label_encoder_parameters,
    .make = [](const Parameters& given) {
      return make_encoder(given, {.refuses_unknown = true, .columns = "label_column", .outputs = "output_column"});
    }};

}  // namespace trainrt::data::plugins
