#pragma once
#include <string>
#include <string_view>

namespace trainrt {

// A spreadsheet executes a cell of a CSV file as a formula if it begins with =, +, -, @, a tab or a carriage return (OWASP,
// CSV Injection). An apostrophe in front makes it text. Pure functions.

/// Returns the text for a cell. It gets an apostrophe in front if it, after any number of apostrophes, begins like a
/// formula and is no number.
std::string guarded_cell(std::string_view text);

/// Returns the text that guarded_cell() returned `cell` for.
std::string unguarded_cell(std::string_view cell);

}  // namespace trainrt
