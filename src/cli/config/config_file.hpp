#pragma once
#include <string>

#include "core/options.hpp"

namespace trainrt::cli {

/// Reads an INI file: [section] lines, `key = value` lines, and comments from '#' or ';', at the start of a line or
/// after a blank, to the end of the line. A value that contains these signs is written in "double quotes". A byte-order
/// mark at the start is skipped. The origin of each value is "PATH:LINE". Throws a UsageError with file and line if the
/// file cannot be read or is not of this form, or if a key is repeated, precedes all sections, or has been renamed.
Options read_config_file(const std::string& path);

/// Reads an INI file as read_config_file() does, but accepts keys that have been renamed.
Options read_config_file_with_old_names(const std::string& path);

/// Returns the text of a config file with these keys. Throws UsageError if a value cannot be written in an INI file.
std::string config_file_text(const Options& options);

/// Stores the key of `word`, "--section.key=value", in `options`, where it replaces a value from a file. Throws UsageError
/// if the word does not have this form, if the key was given before on the command line, or if it has been renamed.
void apply_override(Options& options, const std::string& word);

}  // namespace trainrt::cli
