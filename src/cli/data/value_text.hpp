#pragma once
#include <cstddef>
#include <span>
#include <string>

#include <trainrt/dataset.hpp>

namespace trainrt::cli::datasets {

/// Appends the shortest text that is read back as the same value of its type: "1.0" for real numbers, "true" for bool,
/// "nan", "inf". Floats of 8 and 16 bits are converted to f32 first.
void append_number(std::string& text, const std::byte* value, DType dtype);
bool is_nan(const std::byte* value, DType dtype);
bool is_infinite(const std::byte* value, DType dtype);

/// Returns a sample as one line of at most `max_width` columns: a text in quotes, or the first numbers of an array.
std::string sample_text(const Dataset::Field& field, std::span<const std::byte> sample, std::size_t max_width);

}  // namespace trainrt::cli::datasets
