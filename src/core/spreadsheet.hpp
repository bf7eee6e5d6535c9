#pragma once
#include <string>
#include <string_view>

namespace trainrt {

// Spreadsheets take a cell of a CSV file for a formula, and run it, if it begins with =, +, -, @, a tab or a carriage
// return (OWASP, CSV Injection). An apostrophe before it makes it a text. Numbers need none. Pure.

/// Returns the text of a cell as a spreadsheet may get it: with an apostrophe before it if it would be a formula, or if it
/// begins with apostrophes that would otherwise be taken for added ones.
std::string guarded_cell(std::string_view text);

/// Returns the text that guarded_cell() was given.
std::string unguarded_cell(std::string_view cell);

}  // namespace trainrt
