#pragma once
#include <string>

namespace trainrt::data {

// Log a message about a dataset, at most once per process, since many files may cause the same message. After 100
// different messages nothing more is logged. Thread-safe.
void info_once(const std::string& text);
void warning_once(const std::string& text);  ///< only rank 0 prints the warning, as log::run_warning() does

}  // namespace trainrt::data
