#pragma once
#include <string>
#include <string_view>

namespace trainrt {

// Pure functions that make untrusted text safe to print on a terminal or to write to a log. Such text is, for example, the
// names of files, runs, hosts and metrics, records of a run directory, and messages of other programs.

/// Returns whether a terminal interprets the Unicode code point `point` as a control instead of showing it. These are the
/// control characters of ASCII except the tab, those of ECMA-48 (C1), and those that change the direction of text (Unicode
/// Standard Annex #9).
bool is_terminal_control(char32_t point);

/// Returns `text` with each byte of a control character or of invalid UTF-8 escaped, for example as \x1b. Tabs and newlines
/// are kept; \r\n becomes \n.
std::string printable_text(std::string_view text);

/// Returns `text` as one line with control characters escaped as by printable_text(), and each newline as \n.
std::string printable_line(std::string_view text);

/// Returns an equivalent JSON text with all control characters escaped, for example as \u009b. JSON libraries escape only
/// the control characters of ASCII.
std::string printable_json(std::string_view json);

}  // namespace trainrt
