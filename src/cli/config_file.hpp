#pragma once
#include <string>

#include "core/options.hpp"

namespace trainrt::cli {

/// Reads an INI file: [section] lines, `key = value` lines, comments from '#' or ';' at the start of a line or after a
/// blank to its end, values in "double quotes" if they hold those. A byte-order mark at the start is skipped. Every
/// value knows its line. Throws UsageError with file and line: no such file, not of that form, a key before any section, a
/// repeated key, a quote that is not closed.
Options read_config_file(const std::string& path);

/// A file that read_config_file() reads as these keys. UsageError for a value that no line of a file can hold.
std::string config_file_text(const Options& options);

/// Takes "--section.key=value" into options: it beats the file. UsageError if it is not of that form or was given twice.
void take_override(Options& options, const std::string& word);

}  // namespace trainrt::cli
