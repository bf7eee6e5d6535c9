#pragma once
#include <string>

namespace trainrt::data {

// These functions log a message about a dataset. Each different message is logged only once per process, because many
// files may cause the same message. After 100 different messages, the functions log nothing. Thread-safe.
void info_once(const std::string& text);
void warning_once(const std::string& text);  ///< only rank 0 prints the warning, as log::run_warning() does

}  // namespace trainrt::data
