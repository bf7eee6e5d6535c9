#pragma once
#include <optional>
#include <string>

#include "metrics/record.hpp"

namespace trainrt::view::page {

// This file declares functions that format numbers for pages.

/// Returns a number with six significant digits: "0.0123457", "NaN", "-∞".
std::string number_text(double number);
/// Returns the time of a step with its unit: "1.25 ms", "730 µs", "2.1 s".
std::string step_time_text(double microseconds);
/// Returns a fraction from 0 to 1 as a percentage: "12.3 %" for 0.123.
std::string share_text(double share);
/// Returns a duration: "3.2 s", or "1:02:03" in hours, minutes and seconds if it is at least a minute.
std::string duration_text(double seconds);
/// Returns a number with all digits that are needed to read it back exactly. Returns a text unchanged.
std::string exact_text(const metrics::Record::Value& value);

}  // namespace trainrt::view::page
