#include "data/preprocess/encoding.hpp"

namespace trainrt::data::plugins {

constexpr ParameterSpec count_vectorizer_parameters[] = {
    columns_parameter,
    tokenization_parameter,
    {"max_features", ParameterType::integer, "number of most frequent words to count; by default, all words are counted",
     "null"},
    keyword_only(output_columns_parameter)};

extern const PreprocessorKind count_vectorizer{
    .name = "CountVectorizer",
    .help =
        "replace each text by the counts of its words, as i64, the most frequent word of fit() first; "
        "words are separated by single spaces, and words that did not occur in fit() are not counted",
    .stats = "token_counts(COLUMN)",
    .parameters = count_vectorizer_parameters,
    .make = [](const Parameters& given) {
      return make_encoder(given, {.input = EncoderTraits::Input::words, .is_vector = true});
    }};

}  // namespace trainrt::data::plugins
