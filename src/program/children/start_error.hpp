#pragma once
#include <string>

namespace trainrt::program {

/// Throws the error for an executable that could not be started, with the cause and a remedy. `error_number` is the
/// errno of execve(). The error is a UsageError if another try would fail too (a missing interpreter, an invalid file),
/// and an Error if the machine lacks a resource at the moment.
[[noreturn]] void throw_not_started(const std::string& executable, int error_number);

/// Returns the error message for a program that find_executable() has not found.
std::string not_found_in_words(const std::string& name);

}  // namespace trainrt::program
