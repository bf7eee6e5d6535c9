#include "program/children/last_output.hpp"

#include "core/output/output_tail.hpp"
#include "core/text/text.hpp"
#include "program/children/python_exception.hpp"

namespace trainrt::program {

namespace {

std::string printable(std::string_view text) { return join(printable_lines(text), "\n"); }

}  // namespace

LastOutput last_output(std::string_view output) {
  return {excerpt(printable(python_exception(output))), printable_end(output)};
}

std::string ending_in_words(const Ending& ending, const LastOutput& output) {
  if (ending.is_kill() || output.exception.empty()) return ending.in_words();
  return ending.in_words() + ": " + output.exception;
}

}  // namespace trainrt::program
