#pragma once
#include <string>

#include <trainrt/dataset.hpp>

namespace trainrt::data {

/// Throws UsageError unless the field contains one integer per sample, or texts. `what` names the field in the message:
/// "the key 'id' of dataset 'users'".
void require_key(const Dataset::Field& field, const std::string& what);

/// Returns a key as bytes. The bytes are equal if and only if the keys are equal. They are the bytes of a text, or an
/// integer as 64 bits.
std::string key_of(const TensorView& values, const Dataset::Field& field);

}  // namespace trainrt::data
