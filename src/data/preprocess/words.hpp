#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "data/preprocess/parameters.hpp"

namespace trainrt::data {

constexpr ParameterSpec num_features_parameter{
    .name = "num_features", .type = ParameterType::integer, .help = "length of the vector", .max = 1 << 20};
constexpr ParameterSpec tokenization_parameter{
    "tokenization_fn", ParameterType::python_only,
    "function that returns the list of the words of a text; by default, words are separated by single spaces; a "
    "preprocessor with a function cannot be saved as JSON",
    "null"};

/// Splits a text at each single space, as Python's split(" "). Adjacent spaces yield empty words.
std::vector<std::string_view> split_words(std::string_view text);

/// Returns the hash of a text: a feature number below `features` > 0. It is the text's SHA-256, as a number of 256
/// bits, modulo `features`. Ray's hashing preprocessors use the same hash.
std::uint64_t hashed_feature(std::string_view text, std::uint32_t features);

}  // namespace trainrt::data
