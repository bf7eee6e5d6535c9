#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "metrics/record.hpp"

namespace trainrt::metrics {

// progress.csv: RFC 4180 with lines that end in \n. The kind of a value can be recognized from its cell: empty if the
// record lacks the key; an integer as digits; a real with a point or an exponent, or as nan, inf or -inf; a text that looks
// like one of these is quoted. Texts and names that a spreadsheet would execute as a formula are preceded by an apostrophe
// (core/spreadsheet.hpp), which csv_records() removes.

std::string csv_header(const std::vector<std::string>& columns);
std::string csv_row(const std::vector<std::string>& columns, const Record& record);

/// Returns the records of a file, bit for bit, up to the first torn or invalid row. The metrics of the user come first, in
/// the order of the columns, followed by keys that begin with '_'. Files of older versions contain whole-numbered
/// reals as digits; these are returned as integers.
std::vector<Record> csv_records(std::string_view text);

}  // namespace trainrt::metrics
