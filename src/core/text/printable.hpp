#pragma once
#include <string>
#include <string_view>

namespace trainrt {

// The one place that decides what a terminal or a log may get of texts that come from elsewhere: names of files, runs,
// hosts and metrics, records of a run directory, messages of other programs. Pure.

/// Returns whether a character (a Unicode code point) acts on a terminal instead of being shown: the control characters of
/// ASCII but the tab, those of ECMA-48 (C1), and those that reorder a line (Unicode Standard Annex #9).
bool is_terminal_control(char32_t point);

/// Returns the text with each byte of control characters and of invalid UTF-8 as \x1b. Tabs and line breaks stay as they
/// are.
std::string printable_text(std::string_view text);

/// Returns the text in one line: as printable_text(), with line breaks as \n.
std::string printable_line(std::string_view text);

/// Returns a JSON text that means the same and has no control character: \u009b. JSON itself escapes those of ASCII only.
std::string printable_json(std::string_view json);

}  // namespace trainrt
