#pragma once
#include <cstddef>
#include <span>
#include <string>

#include <trainrt/dataset.hpp>

namespace trainrt::cli::datasets {

/// Appends a number, as short as it can be to be read back as the same value of its type: "1.0" of reals, "true" of bool.
/// nan and inf are named so. 16-bit floats are printed as what they are in f32.
void append_number(std::string& text, const std::byte* value, DType dtype);
bool is_nan(const std::byte* value, DType dtype);
bool is_infinite(const std::byte* value, DType dtype);

/// A sample for people, on one line of at most so many columns: a text in quotes, an array by its first numbers.
std::string sample_text(const Dataset::Field& field, std::span<const std::byte> sample, std::size_t most);

}  // namespace trainrt::cli::datasets
