#pragma once
#include <string>
#include <string_view>

#include "core/mistake.hpp"
#include "program/children/exit_status.hpp"

namespace trainrt::program {

/// The excerpts of a failed program's output that an error message quotes, without control characters.
struct FailureOutput {
  /// The Python exception that ended the program, "ValueError: bad batch", or the error of argparse about the program's
  /// arguments, "train.py: error: unrecognized arguments: --bad"; "" if there is neither
  std::string exception;
  std::string lines;  ///< the last lines, at most 20 lines and 8 KiB; "" if the program printed nothing

  bool operator==(const FailureOutput&) const = default;
};

/// Returns the Python exception and the last lines in `output`, the end of a program's output. Pure function.
FailureOutput failure_output(std::string_view output);

/// Returns a text with the exit status of a program and its Python exception: "exited with 1: ValueError: bad batch".
/// The text omits the exception if a signal killed the program. Pure function.
std::string exit_in_words(const ExitStatus& status, const FailureOutput& output);

/// Returns whether a failed program would fail again after a restart. True for the exceptions of a failed import and of a
/// syntax error, for the exit codes of a command that was not found or cannot be executed, and for wrong arguments
/// (argparse, exit code 2). Pure function.
bool is_permanent(const ExitStatus& status, std::string_view exception);

/// Returns the mistake that an exception shows ("KeyError: 'x'"), if its type is one that Python raises for errors in the
/// code, such as TypeError. Returns a Mistake without a kind for other exceptions, which may be temporary. Pure function.
Mistake mistake_of(const std::string& exception);

}  // namespace trainrt::program
