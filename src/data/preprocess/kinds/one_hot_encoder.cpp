#include "data/preprocess/encoding.hpp"

namespace trainrt::data::plugins {

extern const PreprocessorKind one_hot_encoder{
    .name = "OneHotEncoder",
    .help =
        "replace each category by a vector of u8, with 1 at the category's number and 0 elsewhere; "
        "a value that did not occur in fit() becomes a vector of zeros",
    .stats = "unique_values(COLUMN)",
    .parameters = limited_encoder_parameters,
    .make = [](const Parameters& given) { return make_encoder(given, {.dtype = DType::u8, .is_vector = true}); }};

}  // namespace trainrt::data::plugins
