#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace trainrt {

// Pure functions that measure, truncate and pad text by its width on a terminal. All functions except plain_text() require
// valid UTF-8 without control characters, which plain_text() returns.

/// Returns `text` as one line of valid UTF-8: each control character is replaced by a blank, each invalid byte by a
/// question mark.
std::string plain_text(std::string_view text);

/// Returns the number of columns that `text` occupies on a terminal. East Asian wide characters and emoji occupy two
/// columns, combining marks and joiners zero (Markus Kuhn, wcwidth.c; Unicode Standard Annex #11).
std::size_t display_width(std::string_view text);

/// Truncates `text` to a width of at most `columns` columns on a terminal, without splitting a character.
std::string cut_to_width(std::string_view text, std::size_t columns);

/// Truncates `text` to `columns` columns on a terminal, as cut_to_width() does, or pads it with blanks to that width.
std::string padded_to_width(std::string_view text, std::size_t columns);

/// Converts `text` to ASCII for terminals that show only ASCII: each column of a non-ASCII character is replaced by '?'.
std::string ascii_of(std::string_view text);

}  // namespace trainrt
