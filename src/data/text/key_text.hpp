#pragma once
#include <string>

#include <trainrt/dataset.hpp>

namespace trainrt::data {

/// UsageError unless the field holds whole numbers, one a sample, or texts. `what`: "the key 'id' of dataset 'users'".
void require_key(const Dataset::Field& field, const std::string& what);

/// A key as bytes that are equal if keys are: a text as it is, a whole number as 64 bits, all of which count: keys are
/// hashes, too.
std::string key_of(const TensorView& values, const Dataset::Field& field);

}  // namespace trainrt::data
