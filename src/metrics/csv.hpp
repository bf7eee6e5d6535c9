#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "metrics/record.hpp"

namespace trainrt::metrics {

// The format of progress.csv: CSV of RFC 4180, with \n as newline. The type of a value can be recognized from its cell:
// - empty: the record lacks the key
// - only digits, with or without a sign: an integer
// - a point or an exponent, or nan, inf or -inf: a real
// - any other cell: a text; a text that looks like one of the above is quoted
//
// Texts and names that a spreadsheet would execute as a formula are preceded by an apostrophe (core/spreadsheet.hpp), which
// csv_records() removes.

std::string csv_header(const std::vector<std::string>& columns);
std::string csv_row(const std::vector<std::string>& columns, const Record& record);

/// Parses the content of progress.csv; returns its metric records, bit for bit, up to the first truncated or invalid row.
/// The user's metrics come first, in the order of the columns, followed by keys that begin with '_'. Files of older
/// versions contain reals without a fraction as digits; they are returned as integers.
std::vector<Record> csv_records(std::string_view text);

}  // namespace trainrt::metrics
