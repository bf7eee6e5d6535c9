#include "program/children/failure_output.hpp"

#include <algorithm>
#include <array>

#include "core/output/output_tail.hpp"
#include "core/text/text.hpp"
#include "program/children/python_exception.hpp"

namespace trainrt::program {

namespace {

constexpr std::string_view argparse_mark = ": error: ";

std::string printable(std::string_view text) { return join(printable_lines(text), "\n"); }

/// Returns the last line of the output if argparse has written it: "train.py: error: unrecognized arguments: --bad";
/// otherwise "".
std::string argparse_error(std::string_view output) {
  auto line = trim(last_lines(output, 1, 500));
  const auto at = line.find(argparse_mark);
  const bool is_program = at != std::string::npos && at > 0 && line.find_first_of(" \t:") == at;
  return is_program ? line : "";
}

}  // namespace

FailureOutput failure_output(std::string_view output) {
  auto exception = python_exception(output);
  if (exception.empty()) exception = argparse_error(output);
  return {excerpt(printable(exception)), printable_end(output)};
}

std::string exit_in_words(const ExitStatus& status, const FailureOutput& output) {
  if (status.is_kill() || output.exception.empty()) return status.in_words();
  return status.in_words() + ": " + output.exception;
}

bool is_permanent(const ExitStatus& status, std::string_view exception) {
  constexpr std::array<std::string_view, 5> names{"ModuleNotFoundError", "ImportError", "SyntaxError", "IndentationError",
                                                  "TabError"};
  if (status.signal != 0) return false;
  if (status.exit_code == 126 || status.exit_code == 127) return true;
  if (status.exit_code == 2 && exception.find(argparse_mark) != std::string_view::npos) return true;
  return std::ranges::find(names, exception.substr(0, exception.find(':'))) != names.end();
}

Mistake mistake_of(const std::string& exception) {
  constexpr std::array<std::string_view, 15> types = {
      "ArithmeticError", "AssertionError", "AttributeError", "ImportError",       "IndexError",
      "KeyError",        "LookupError",    "NameError",      "OverflowError",     "NotImplementedError",
      "RecursionError",  "TypeError",      "ValueError",     "ZeroDivisionError", "UnboundLocalError"};
  if (std::ranges::find(types, exception.substr(0, exception.find(':'))) == types.end()) return {};
  return {std::string(mistake_kind::exception), exception};
}

}  // namespace trainrt::program
