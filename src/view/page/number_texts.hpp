#pragma once
#include <optional>
#include <string>

#include "metrics/record.hpp"

namespace trainrt::view::page {

// Numbers as text for people.

/// Returns six significant digits: "0.0123457", "NaN", "-∞".
std::string number_text(double number);
/// "1.25 ms", "730 µs", "2.1 s"
std::string step_time_text(double microseconds);
/// "12.3 %"
std::string share_text(double share);
/// Returns seconds, or from one minute hours, minutes and seconds: "3.2 s", "1:02:03".
std::string duration_text(double seconds);
/// Returns a number with all its digits, so that parsing it returns the same number. Returns a text unchanged.
std::string exact_text(const metrics::Record::Value& value);

}  // namespace trainrt::view::page
