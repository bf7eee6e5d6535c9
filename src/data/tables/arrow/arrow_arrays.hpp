#pragma once
#include <cstdint>
#include <memory>

#include <arrow/array.h>
#include <arrow/type.h>

#include "data/source/source.hpp"

namespace trainrt::data::arrow_module {

/// The type that a field is written as: texts `string`, other values of any number `list`, vectors `fixed_size_list`,
/// arrays of more axes Arrow's `fixed_shape_tensor`. None is missing: a NaN is a value. Throws UsageError for a field that
/// Arrow has no type for.
std::shared_ptr<arrow::Field> arrow_field(const Dataset::Field& field);

/// `count` samples of a field as an array of that type. It points into the column, which has to live longer. `first`: the
/// number of the first sample, for messages. Throws UsageError for a text that is no UTF-8.
std::shared_ptr<arrow::Array> arrow_array(const Dataset::Field& field, const Column& column, std::uint64_t first,
                                          std::uint64_t count);

}  // namespace trainrt::data::arrow_module
