#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace trainrt {

// What a text takes on a terminal. Control characters, and what is no UTF-8, are taken out by plain_text() first: the
// others expect a text without them. Pure.

/// One line of UTF-8, whatever it was: a control character is a blank, a byte that is no UTF-8 a question mark.
std::string plain_text(std::string_view text);

/// The columns of a terminal that it takes. East Asian wide characters and emoji take two, combining marks and joiners none
/// (Markus Kuhn, wcwidth.c; Unicode Standard Annex #11).
std::size_t columns_of(std::string_view text);

/// As much of its beginning as fits into so many columns, whole characters.
std::string cut_to(std::string_view text, std::size_t columns);

/// The same, with blanks up to that width.
std::string fitted(std::string_view text, std::size_t columns);

/// For a terminal that shows ASCII only: '?' for every other character.
std::string ascii_of(std::string_view text);

}  // namespace trainrt
