#pragma once
#include <string>
#include <string_view>

namespace trainrt::log {

/// Lines go to standard error: "trainrt: text", with the level and the rank if they matter.
/// Rank 0 alone writes info(); warnings and errors are written by whoever calls, marked with the rank.
void set_rank(int rank, int size);

/// Quiet leaves warnings and errors.
void set_quiet(bool quiet);

void info(const std::string& text);
/// What a worker says of itself, from any rank: each line of the text is one here, marked with the rank. What could move a
/// terminal's cursor is escaped.
void worker(std::string_view text);
void warning(const std::string& text);
/// About the run as a whole: all ranks know it, rank 0 says it.
void run_warning(const std::string& text);
void error(const std::string& text);
/// The same as run_warning: all ranks have met it.
void run_error(const std::string& text);

}  // namespace trainrt::log
