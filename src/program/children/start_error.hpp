#pragma once
#include <string>

namespace trainrt::program {

/// Throws that `executable` could not be started, why, and what to do: UsageError if a further try cannot help (a missing
/// interpreter, a file of another kind), Error if the machine lacks something at the moment. `error_number`: of execve().
[[noreturn]] void throw_not_started(const std::string& executable, int error_number);

/// Returns why find_executable() found nothing of that name, and what to do.
std::string not_found_in_words(const std::string& name);

}  // namespace trainrt::program
