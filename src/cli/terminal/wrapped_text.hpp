#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace trainrt::cli {

/// Splits a text at blanks into lines of at most `width` bytes. A longer word has a line of its own. Several blanks between
/// two words become one.
std::vector<std::string> wrapped(std::string_view text, std::size_t width);

/// Returns a line that begins with `term`, followed by `text`, which begins in column `indent` and is wrapped at `width`
/// columns. If the term is too long, the text begins in the next line. Each line ends with a line break.
std::string described_term(std::string_view term, std::string_view text, std::size_t indent, std::size_t width);

}  // namespace trainrt::cli
