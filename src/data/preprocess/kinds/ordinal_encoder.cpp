#include "data/preprocess/encoding.hpp"

namespace trainrt::data::plugins {

constexpr ParameterSpec ordinal_encoder_parameters[] = {
    columns_parameter,
    keyword_only(
        {"encode_lists", ParameterType::flag, "has no effect, because a column of lists is always an error", "true"}),
    output_columns_parameter};

extern const PreprocessorKind ordinal_encoder{
    .name = "OrdinalEncoder",
    .help =
        "replace each category by its number, from 0 in sorted order, as i64; "
        "a value that did not occur in fit() becomes -1, and NaN in fit() is an error",
    .stats = "unique_values(COLUMN)",
    .parameters = ordinal_encoder_parameters,
    .make = [](const Parameters& given) { return make_encoder(given, {}); }};

}  // namespace trainrt::data::plugins
