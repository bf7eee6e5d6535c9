#pragma once
#include <string>
#include <string_view>

namespace trainrt {

// These functions make text from outside (names of files, runs, hosts and metrics, records of a run directory, messages of
// other programs) safe to print on a terminal or write to a log. Pure functions.

/// Returns whether a Unicode code point controls a terminal instead of being shown: the control characters of ASCII except
/// the tab, those of ECMA-48 (C1), and those that reorder a line (Unicode Standard Annex #9).
bool is_terminal_control(char32_t point);

/// Returns the text with each byte of a control character or of invalid UTF-8 as \x1b. Tabs and line breaks are unchanged.
std::string printable_text(std::string_view text);

/// Returns printable_text() in one line, with \n for each line break.
std::string printable_line(std::string_view text);

/// Returns an equivalent JSON text with all control characters escaped, as \u009b. JSON writers escape those of ASCII only.
std::string printable_json(std::string_view json);

}  // namespace trainrt
