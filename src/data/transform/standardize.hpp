#pragma once
#include <span>
#include <string>

#include "data/transform/transform.hpp"

namespace trainrt::data {

/// Returns the change of `field` to (x - mean) / deviation, as f32. For u8, x is the value divided by 255, as in
/// torchvision's ToTensor. `arguments` are the mean and the deviation of all values. For images, they may instead be the
/// mean of each channel, then the deviation of each channel. Throws UsageError that names the field if the arguments are
/// invalid or do not suit the field.
FieldMap standardized(const Dataset::Field& field, std::span<const std::string> arguments);

}  // namespace trainrt::data
