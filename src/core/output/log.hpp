#pragma once
#include <string>
#include <string_view>

namespace trainrt::log {

// Messages of the runtime on standard error: "trainrt: text", "trainrt: rank 3: warning: text". Any thread may call these
// functions.

/// Sets the rank that messages name, and whether there are several. Rank 0 alone writes info(), run_warning() and
/// run_error().
void set_rank(int rank, int size);

/// Suppresses info() and worker().
void set_quiet(bool quiet);

void info(const std::string& text);
/// Writes a message of the user's code from any rank, one log line per line of `text`. Control characters are escaped.
void worker(std::string_view text);
/// Writes a warning that concerns the calling rank.
void warning(const std::string& text);
/// Writes a warning that all ranks have, once.
void run_warning(const std::string& text);
/// Writes an error of the calling rank.
void error(const std::string& text);
/// Writes an error that all ranks have, once.
void run_error(const std::string& text);

}  // namespace trainrt::log
