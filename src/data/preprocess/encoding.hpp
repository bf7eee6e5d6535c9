#pragma once
#include <cstdint>
#include <memory>

#include "data/preprocess/columnwise.hpp"

namespace trainrt::data {

/// The properties in which the encoders differ.
struct EncoderTraits {
  enum class Input : std::uint8_t {
    values,  ///< a number or a text per sample
    lists,   ///< a list of numbers per sample
    words,   ///< a text per sample, whose words are encoded
  };
  Input input = Input::values;
  /// `dtype` is the type of the output. If `is_vector` is false, the output is the index of the value's category, or -1 if
  /// fit() did not find the value. If `is_vector` is true, the output is a vector that counts the values of each category.
  DType dtype = DType::i64;
  bool is_vector = false;
  bool ignores_missing = false;  ///< whether fit() leaves out NaN and empty texts; if false, NaN is an error
  bool refuses_unknown = false;  ///< whether a value that fit() did not find is an error
  std::string_view columns = "columns", outputs = "output_columns";  ///< names of the parameters with column names
};

/// Parameters of an encoder that can keep only the most frequent categories of a column. For example, max_categories =
/// {"city": 10} keeps 10 categories of the column city.
constexpr ParameterSpec limited_encoder_parameters[] = {
    columns_parameter,
    keyword_only({"max_categories", ParameterType::category_limits,
                  "number of most frequent categories to keep for a column; other columns keep all", "null"}),
    output_columns_parameter};

/// Creates a preprocessor that finds the categories of its columns by fit(), and numbers them from 0. The result of a fit
/// is "unique_values(COLUMN)" for each column, a sorted list. For Input::words, the result is "token_counts(COLUMN)", a
/// list of words with their counts, the most frequent word first: [["a", 3], ["b", 1]].
///
/// An encoder of lists, or one whose output is a vector, must have limited_encoder_parameters. An encoder of words must
/// have the parameter `max_features`.
std::unique_ptr<Preprocessing> make_encoder(const Parameters& given, const EncoderTraits& traits);

}  // namespace trainrt::data
