#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trainrt {

// Pure functions on text.

/// Returns "a, b, c".
std::string join(std::span<const std::string> parts, std::string_view separator = ", ");

/// A character of a text.
struct Utf8Character {
  std::size_t bytes = 0;  ///< 0 if the text does not begin with a well-formed character
  char32_t point = 0;     ///< Unicode code point
};
/// Returns the first character of `text`, which is not empty.
Utf8Character first_character(std::string_view text);

/// Returns whether the text is well-formed UTF-8 (RFC 3629): no stray or missing continuation bytes, overlong forms or
/// surrogates.
bool is_utf8(std::string_view text);

/// Returns the lines of a text, safe to print: each byte of a control character (except the tab) and of invalid UTF-8 is
/// escaped as \x1b. Line breaks (\n and \r\n) are removed; one at the end starts no further line.
std::vector<std::string> printable_lines(std::string_view text);

/// Returns the items of a list "a, b" without blanks around them and without empty ones.
std::vector<std::string> words_in(std::string_view list);

/// Returns the text without blanks, tabs and line breaks at its ends.
std::string trim(std::string_view text);

/// Returns the text before the first line break.
std::string first_line(std::string_view text);

/// Returns a text from outside for an error message: unchanged up to `max_bytes` bytes, else its beginning and
/// "... (N bytes)". No UTF-8 character is split.
std::string excerpt(std::string_view text, std::size_t max_bytes = 300);

/// Returns the candidate with the smallest edit distance (Levenshtein) to `word`; "" if all differ too much.
std::string nearest(std::string_view word, std::span<const std::string> candidates);

/// Returns `word` as one word of a POSIX shell command, for commands that users are asked to type. It is in single quotes
/// if it has other characters than letters, digits and those without a meaning in a shell.
std::string shell_quoted(std::string_view word);

/// Returns the 64-bit FNV-1a hash (Fowler, Noll, Vo). It must never change: the order of samples in existing runs depends
/// on it.
std::uint64_t stable_hash(std::string_view text);

/// Returns hours, minutes and seconds: "1:02:03", "26:00:00". Rounds to seconds; a negative number becomes "0:00:00".
std::string clock_text(double seconds);

/// Returns "1 step", "2 steps", for nouns with a plural in s.
std::string counted(std::int64_t count, std::string_view noun);

/// Returns " (did you mean 'x'?)" with the candidate of nearest(), or "".
std::string did_you_mean(std::string_view word, std::span<const std::string> candidates);

}  // namespace trainrt
