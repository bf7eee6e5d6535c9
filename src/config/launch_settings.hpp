#pragma once
#include <string>

#include "core/options.hpp"

namespace trainrt::config {

/// Name of the environment variable by which a rank passes the settings from its config file and command line to a program.
/// The program replaces the process of the rank (config key program.has_trainer).
inline constexpr const char* launch_settings_variable = "TRAINRT_SETTINGS";

/// Serializes the settings in `given`, with the origin of each, as JSON. Omits [train], [program] and defaults.
std::string launch_settings_text(const Options& given);

/// Parses the JSON text of launch_settings_text() and returns the settings. Throws UsageError if the text is invalid.
Options launch_settings_from(const std::string& text);

}  // namespace trainrt::config
