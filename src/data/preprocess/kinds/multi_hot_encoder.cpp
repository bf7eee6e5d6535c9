#include "data/preprocess/encoding.hpp"

namespace trainrt::data::plugins {

extern const PreprocessorKind multi_hot_encoder{
    .name = "MultiHotEncoder",
    .help =
        "replace each list of numbers by the counts of the categories in it, as i64; "
        "values that did not occur in fit() are not counted",
    .stats = "unique_values(COLUMN)",
    .parameters = limited_encoder_parameters,
    .make = [](const Parameters& given) {
      return make_encoder(given, {.input = EncoderTraits::Input::lists, .is_vector = true});
    }};

}  // namespace trainrt::data::plugins
