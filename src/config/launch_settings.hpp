#pragma once
#include <string>

#include "core/options.hpp"

namespace trainrt::config {

/// The environment variable by which a rank that becomes a program (program.has_trainer) hands it what the config file and
/// the command line say.
inline constexpr const char* launch_settings_variable = "TRAINRT_SETTINGS";

/// Those settings as a text, with where each comes from; not what they say of the program itself, and no defaults.
std::string launch_settings_text(const Options& given);

/// Back. Throws UsageError if it is no such text.
Options launch_settings_from(const std::string& text);

}  // namespace trainrt::config
