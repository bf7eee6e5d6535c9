#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "metrics/record.hpp"

namespace trainrt::metrics {

/// The key that holds a record's iteration in result.json (Ray's name).
inline constexpr std::string_view iteration_key = "_training_iteration";

/// One line of result.json without its end: an object with the record's values in their order. The iteration stands under
/// iteration_key, which is put in front if the values lack it. Doubles read back bit for bit; NaN is null; infinities,
/// which JSON lacks, are the texts "Infinity" and "-Infinity". A text of that content, also after backslashes, gets one
/// more backslash in front, which from_json() removes. Bytes that are not UTF-8 become U+FFFD.
std::string to_json(const Record& record);

/// Reads such a line; nullopt if it is none (torn, damaged, without an iteration from 1 on).
std::optional<Record> from_json(std::string_view line);

}  // namespace trainrt::metrics
