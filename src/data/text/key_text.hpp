#pragma once
#include <span>
#include <string>

#include <trainrt/dataset.hpp>

namespace trainrt::data {

/// UsageError unless the field holds whole numbers, one a sample, or texts. `what`: "the key 'id' of dataset 'users'".
void require_key(const Dataset::Field& field, const std::string& what);

/// A key as bytes that are equal if keys are: a text as it is, a whole number as 64 bits, all of which count: keys are
/// hashes, too.
std::string key_of(const TensorView& values, const Dataset::Field& field);

/// The same of several fields that make a key together, a value of each.
std::string key_of(std::span<const TensorView> values, std::span<const Dataset::Field> fields);

/// As a person reads it: "id 3", "user 'al' and day 7".
std::string key_in_words(std::span<const TensorView> values, std::span<const Dataset::Field> fields);

}  // namespace trainrt::data
