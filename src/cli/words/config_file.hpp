#pragma once
#include <string>

#include "core/options.hpp"

namespace trainrt::cli {

/// Reads an INI file: [section] lines, `key = value` lines, and comments from '#' or ';', at the start of a line or after a
/// blank, to the end of the line. A value that contains these signs is written in "double quotes". A byte-order mark at the
/// start is skipped. The origin of each value is "PATH:LINE". Throws a UsageError with file and line if the file cannot be
/// read or is not of this form, if a key is repeated or precedes all sections, or if it has been renamed.
Options read_config_file(const std::string& path);

/// Reads the file in the same way, but accepts keys that have been renamed.
Options config_file_values(const std::string& path);

/// A file that read_config_file() reads as these keys. UsageError for a value that no line of a file can hold.
std::string config_file_text(const Options& options);

/// Takes "--section.key=value" into options: it beats the file. UsageError if it is not of that form or was given twice.
void take_override(Options& options, const std::string& word);

}  // namespace trainrt::cli
