#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "metrics/record.hpp"

namespace trainrt::metrics {

/// The key of a record's iteration in result.json (Ray Train's name).
inline constexpr std::string_view iteration_key = "_training_iteration";

/// Returns one line of result.json without its line break: an object with the values of the record in their order. The
/// iteration is stored under `iteration_key`, as the first value if the record has no such key. Doubles are read back bit
/// for bit. NaN is null. Infinities are the strings "Infinity" and "-Infinity"; a text that consists of one of these, also
/// after backslashes, gets one more backslash, which from_json() removes. Bytes that are not UTF-8 become U+FFFD.
std::string to_json(const Record& record);

/// Parses a line written by to_json(). Returns nullopt if it is torn or damaged, or has no iteration of 1 or higher.
std::optional<Record> from_json(std::string_view line);

}  // namespace trainrt::metrics
