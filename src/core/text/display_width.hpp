#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace trainrt {

// Functions for text of a given width on a terminal. All but plain_text() require valid UTF-8 without control characters,
// which plain_text() returns. Pure functions.

/// Returns the text as one line of valid UTF-8: a control character becomes a blank, an invalid byte a question mark.
std::string plain_text(std::string_view text);

/// Returns the number of columns that the text takes on a terminal. East Asian wide characters and emoji take two,
/// combining marks and joiners zero (Markus Kuhn, wcwidth.c; Unicode Standard Annex #11).
std::size_t display_width(std::string_view text);

/// Returns the beginning of the text that fits into `columns`, without splitting a character.
std::string cut_to_width(std::string_view text, std::size_t columns);

/// Returns cut_to_width(), padded with blanks to `columns`.
std::string padded_to_width(std::string_view text, std::size_t columns);

/// Returns the text with '?' in each column of a character that is not ASCII, for terminals that show ASCII only.
std::string ascii_of(std::string_view text);

}  // namespace trainrt
