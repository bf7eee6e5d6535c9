#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace trainrt::data {

/// Reads the decimal number at `begin`, and returns the address of the first character after it. The number is rounded
/// to the nearest double, ties to even. A number that is too small for a double is read as 0. Accepts "nan" and "inf",
/// but neither "+1" nor " 1".
///
/// Returns nullptr if there is no number, or if it is too large for a double.
const char* read_real(const char* begin, const char* end, double& value);

/// Return the number in `text`. The number may have a sign, and blanks around it. Return nothing if `text` is not a
/// number, is longer than 1024 characters, or is too large for the type. real_in() returns 0 for a number that is too
/// small for a double.
std::optional<double> real_in(std::string_view text);
std::optional<std::int64_t> integer_in(std::string_view text);

enum class NumberKind : std::uint8_t { none, whole, real };
/// Returns the kind of number in `text`: whole if integer_in() accepts it, otherwise real if real_in() accepts it,
/// otherwise none.
NumberKind number_kind(std::string_view text);

/// Returns false if `text` is an integer that a double cannot hold exactly, such as 9007199254740993. Returns true for
/// every other text.
bool is_exact_in(std::string_view text);

/// Returns the boolean in `text`: true, True, TRUE, false, False or FALSE, with blanks around it. Returns nothing for
/// other texts.
std::optional<bool> truth_in(std::string_view text);

}  // namespace trainrt::data
