#pragma once
#include <string>
#include <string_view>

#include "program/children/exit_status.hpp"

namespace trainrt::program {

/// The parts of a failed program's output that the error message quotes, without control characters.
struct FailureOutput {
  std::string exception;  ///< "ValueError: bad batch"; "" if no Python exception ended the program
  std::string lines;      ///< the last lines, at most 20 and 8 KiB; "" if the program printed nothing

  bool operator==(const FailureOutput&) const = default;
};

/// Extracts exception and last lines from the end of a program's output. Pure.
FailureOutput failure_output(std::string_view output);

/// Returns how a program ended, with its exception: "exited with 1: ValueError: bad batch". The exception is omitted if a
/// signal killed the program. Pure.
std::string exit_in_words(const ExitStatus& status, const FailureOutput& output);

}  // namespace trainrt::program
