#include "program/children/failure_output.hpp"

#include <algorithm>
#include <array>

#include "core/output/output_tail.hpp"
#include "core/text/text.hpp"
#include "program/children/python_exception.hpp"

namespace trainrt::program {

namespace {

std::string printable(std::string_view text) { return join(printable_lines(text), "\n"); }

}  // namespace

FailureOutput failure_output(std::string_view output) {
  return {excerpt(printable(python_exception(output))), printable_end(output)};
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
