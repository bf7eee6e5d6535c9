#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trainrt {

// Pure functions on strings: joining, splitting, UTF-8, escaping, formatting.

/// Joins strings with a separator: "a, b, c".
std::string join(std::span<const std::string> parts, std::string_view separator = ", ");

/// The result of first_character(): length and code point of a UTF-8 character.
struct Utf8Character {
  std::size_t bytes = 0;  ///< length in bytes; 0 if the text does not begin with a valid character
  char32_t point = 0;     ///< Unicode code point
};
/// Decodes the first UTF-8 character of `text`. Precondition: `text` is not empty.
Utf8Character first_character(std::string_view text);

/// Returns whether `text` is valid UTF-8 (RFC 3629): without stray or missing continuation bytes, overlong forms and
/// surrogates.
bool is_utf8(std::string_view text);

/// Splits `text` into lines that are safe to print: each byte of a control character (except the tab) and of invalid UTF-8
/// is escaped, for example as \x1b. Newlines (\n and \r\n) are removed; a newline at the end of `text` starts no further
/// line.
std::vector<std::string> printable_lines(std::string_view text);

/// Splits a list such as "a, b" at its separators. Blanks around the items are removed, and empty items are left out.
std::vector<std::string> words_in(std::string_view list, char separator = ',');

/// Returns `text` without blanks, tabs, \r and \n at both ends.
std::string trim(std::string_view text);

/// Returns the first line of `text`, without the newline.
std::string first_line(std::string_view text);

/// Returns `text` with "#" instead of each run of digits, to compare messages that may differ in numbers.
std::string without_numbers(std::string_view text);

/// Shortens an untrusted text for an error message: returns `text` unchanged if it has at most `max_bytes` bytes, else its
/// beginning and "... (N bytes)". No UTF-8 character is split.
std::string excerpt(std::string_view text, std::size_t max_bytes = 300);

/// Returns the candidate with the smallest edit distance to `word`, for a suggestion after a typing error. Two transposed
/// characters are one edit. The distance must not exceed a limit: 1 if either word has at most 3 characters, otherwise 2
/// or, if this is more, a third of the length of `word`.
///
/// If all distances exceed the limit, returns a candidate that abbreviates `word` by its initials, or the reverse: "lr" for
/// "learning_rate". Returns "" if there is no such candidate.
std::string nearest(std::string_view word, std::span<const std::string> candidates);

/// Quotes `word` for a POSIX shell, for commands that users are asked to type. Words of letters, digits and characters that
/// have no meaning in a shell are returned unchanged; other words are put in single quotes.
std::string shell_quoted(std::string_view word);

/// Returns the 64-bit FNV-1a hash (Fowler, Noll, Vo) of `text`. The function must never change, since the order of samples
/// in existing runs depends on it.
std::uint64_t stable_hash(std::string_view text);

/// Formats a duration as hours, minutes and seconds: "1:02:03", "26:00:00". Rounds to seconds; a negative duration becomes
/// "0:00:00".
std::string clock_text(double seconds);

/// Formats a number with three significant digits, without an exponent below 1e12: "0.5", "83.3", "3,650".
std::string three_digits(double number);

/// Formats a number with a noun in singular or plural: "1 step", "2 steps". For nouns with a plural in -s.
std::string counted(std::int64_t count, std::string_view noun);

/// Returns the suggestion " (did you mean 'x'?)" for an error message. x is the candidate that is nearest to `word`.
/// Returns an empty text if no candidate is near.
std::string did_you_mean(std::string_view word, std::span<const std::string> candidates);

}  // namespace trainrt
