#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "metrics/record.hpp"

namespace trainrt::metrics {

// progress.csv as text: RFC 4180 with lines that end in \n. What a cell holds can be told from it: nothing if a record
// lacks the key, whole numbers as digits, others with a point or an exponent, nan, inf, -inf; texts are quoted if they
// would read as one of those. Texts and names that a spreadsheet would take for a formula have an apostrophe before them
// (core/spreadsheet.hpp), which csv_records() takes away.

std::string csv_header(const std::vector<std::string>& columns);
std::string csv_row(const std::vector<std::string>& columns, const Record& record);

/// The records of a file, bit for bit, up to the first row that is torn or is none. Each record's own metrics come first,
/// in the order of the columns, then those whose names begin with '_'. Files of older versions wrote whole-numbered reals
/// as digits: those come back as whole numbers.
std::vector<Record> csv_records(std::string_view text);

}  // namespace trainrt::metrics
