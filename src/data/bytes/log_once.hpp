#pragma once
#include <string>

namespace trainrt::data {

/// Logs a line about a dataset, at most once per process, as many files cause the same line. After 100 different lines
/// nothing more is logged. Any thread may call these.
void info_once(const std::string& text);
void warning_once(const std::string& text);  ///< rank 0 prints it, as log::run_warning() does

}  // namespace trainrt::data
