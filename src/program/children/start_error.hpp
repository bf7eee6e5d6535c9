#pragma once
#include <string>

namespace trainrt::program {

/// Throws the error of an executable that could not be started, with the cause and a remedy: UsageError if a retry cannot
/// help (a missing interpreter, an invalid file), Error if the machine lacks something at the moment. `error_number` is
/// errno of execve().
[[noreturn]] void throw_not_started(const std::string& executable, int error_number);

/// Returns the error message for a program name that find_executable() did not find.
std::string not_found_in_words(const std::string& name);

}  // namespace trainrt::program
