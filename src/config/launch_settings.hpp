#pragma once
#include <string>

#include "core/options.hpp"

namespace trainrt::config {

/// Environment variable that passes the config file and the command line to a program that a rank becomes
/// (program.has_trainer).
inline constexpr const char* launch_settings_variable = "TRAINRT_SETTINGS";

/// Returns the values in `given` with their origins as JSON, without [train], [program] and defaults.
std::string launch_settings_text(const Options& given);

/// Reads the text that launch_settings_text() returned. Throws UsageError if it is not such a text.
Options launch_settings_from(const std::string& text);

}  // namespace trainrt::config
