#pragma once
#include <cstdint>
#include <memory>

#include <arrow/array.h>
#include <arrow/type.h>

#include "data/source/source.hpp"

namespace trainrt::data::arrow_module {

/// Returns the Arrow type of a field:
/// - `string` for texts
/// - `list` for other samples that vary in length
/// - `fixed_size_list` for vectors
/// - Arrow's `fixed_shape_tensor` for arrays with more axes
///
/// Values are not nullable; NaN is a value. Throws UsageError if Arrow has no type for the field.
std::shared_ptr<arrow::Field> arrow_field(const Dataset::Field& field);

/// Returns `count` samples of a field as an array of the type of arrow_field(). The array points into `column`, which
/// must outlive it. `first` is the number of the first sample, for messages. Throws UsageError for a text that is not
/// UTF-8.
std::shared_ptr<arrow::Array> arrow_array(const Dataset::Field& field, const Column& column, std::uint64_t first,
                                          std::uint64_t count);

}  // namespace trainrt::data::arrow_module
