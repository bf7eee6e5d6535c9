#pragma once
#include <string>
#include <string_view>

namespace trainrt {

// Protection against formulas in CSV files (OWASP, CSV Injection). A spreadsheet program executes a cell as a formula if
// the cell begins with =, +, -, @, a tab or a carriage return. An apostrophe before the cell makes it plain text. All
// functions in this file are pure functions.

/// Returns `text` for a cell of a CSV file. An apostrophe is put in front if `text`, after any number of apostrophes,
/// begins like a formula and is not a number.
std::string guarded_cell(std::string_view text);

/// Reverses guarded_cell(): returns the text from which guarded_cell() made `cell`.
std::string unguarded_cell(std::string_view cell);

}  // namespace trainrt
