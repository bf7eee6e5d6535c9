#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "metrics/record.hpp"

namespace trainrt::metrics {

/// The key under which result.json stores the iteration of a metric record (Ray Train's name).
inline constexpr std::string_view iteration_key = "_training_iteration";

/// Returns a metric record as one line of result.json, without its newline: a JSON object with the values of the record
/// in their order.
/// - The iteration is stored under `iteration_key`, as the first value if the record has no such key.
/// - from_json() reads doubles back bit for bit. NaN is null. Infinities are the strings "Infinity" and "-Infinity".
/// - A metric's text "Infinity" or "-Infinity" gets a backslash at its start, which distinguishes it from a number. So does
///   such a text after backslashes. from_json() removes the added backslash.
/// - Bytes that are not UTF-8 become U+FFFD.
std::string to_json(const Record& record);

/// Parses a line of result.json that to_json() has written. Returns nullopt if the line is truncated or corrupt, or has no
/// iteration of 1 or higher.
std::optional<Record> from_json(std::string_view line);

}  // namespace trainrt::metrics
