#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trainrt {

/// "a, b, c"
std::string join(std::span<const std::string> parts, std::string_view separator = ", ");

/// Well-formed UTF-8 (RFC 3629): no stray or missing continuation bytes, no overlong forms, no surrogates.
bool is_utf8(std::string_view text);

/// The lines of a text, as a terminal or a log can take them: control characters but tabs, and what is no UTF-8, are
/// escaped, byte by byte as \x1b. A last line break, and the \r before any, are not part of them.
std::vector<std::string> printable_lines(std::string_view text);

/// "a, b" as its words; empty ones are left out.
std::vector<std::string> words_in(std::string_view list);

std::string trim(std::string_view text);

/// Up to the first line break.
std::string first_line(std::string_view text);

/// A text for an error message, if it may come from outside and be of any length: as it is up to `most` bytes, else its
/// beginning and "... (N bytes)". UTF-8 stays whole.
std::string excerpt(std::string_view text, std::size_t most = 300);

/// The candidate with the smallest edit distance (Levenshtein), or "" if none is near enough to be what was meant.
std::string nearest(std::string_view word, std::span<const std::string> candidates);

/// As one word of a command that a shell reads (POSIX): in single quotes if it holds anything but letters, digits and
/// characters that mean nothing to a shell. For commands that people are told to type.
std::string shell_quoted(std::string_view word);

/// FNV-1a, 64 bits (Fowler, Noll, Vo). The orders of samples of all runs ever made hang on it: it never changes.
std::uint64_t stable_hash(std::string_view text);

/// "1:02:03", "26:00:00": hours, minutes and seconds; rounded to seconds, less than none as none.
std::string clock_text(double seconds);

/// "1 step", "2 steps": for nouns that take an s.
std::string counted(std::int64_t count, std::string_view noun);

/// " (did you mean 'x'?)", or "" if nothing is near.
std::string did_you_mean(std::string_view word, std::span<const std::string> candidates);

}  // namespace trainrt
