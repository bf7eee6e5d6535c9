#pragma once
#include <functional>
#include <string>
#include <string_view>

namespace trainrt::log {

// Functions that write messages of the runtime to standard error: "trainrt: text", "trainrt: rank 3: warning: text". All
// functions are thread-safe.

/// Sets this process's rank and the number of ranks for later messages. Messages name the rank if `size` is greater than 1.
/// Only rank 0 writes the messages of info(), run_warning() and run_error().
void set_rank(int rank, int size);

/// Turns informational messages off or on: if `quiet` is true, info() and worker() write nothing.
void set_quiet(bool quiet);

/// Makes all later messages pass through `edit` before they are written. Call it once, before other threads log; `edit`
/// must be thread-safe.
void set_edit(std::function<std::string(std::string)> edit);

void info(const std::string& text);
/// Writes a message of the user's code, from any rank: one log line per line of `text`. Control characters are escaped.
void worker(std::string_view text);
/// Writes lines that precede an error message, such as a traceback, without a prefix. Control characters are escaped.
void details(const std::string& lines);
/// Writes a warning that concerns only the calling rank.
void warning(const std::string& text);
/// Writes a warning that concerns the run as a unit: all ranks call the function, and only rank 0 writes the warning.
void run_warning(const std::string& text);
/// Writes an error that concerns only the calling rank.
void error(const std::string& text);
/// Writes an error that concerns the run as a unit: all ranks call the function, and only rank 0 writes the error.
void run_error(const std::string& text);

}  // namespace trainrt::log
