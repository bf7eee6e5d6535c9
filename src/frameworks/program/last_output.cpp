#include "frameworks/program/last_output.hpp"

#include <fmt/format.h>

#include "core/output_plan.hpp"
#include "core/output_tail.hpp"
#include "core/text.hpp"
#include "frameworks/program/python_exception.hpp"

namespace trainrt::program {

namespace {

constexpr std::size_t most_lines = 20;
constexpr std::size_t most_bytes = std::size_t{8} << 10;

std::string printable(std::string_view text) { return join(printable_lines(text), "\n"); }

}  // namespace

LastOutput last_output(std::string_view output) {
  return {excerpt(printable(python_exception(output))), printable(last_lines(output, most_lines, most_bytes))};
}

std::string ending_in_words(const Ending& ending, const LastOutput& output) {
  if (ending.is_kill() || output.exception.empty()) return ending.in_words();
  return ending.in_words() + ": " + output.exception;
}

std::string output_in_words(int rank, const LastOutput& output) {
  if (output.lines.empty()) return "";
  return fmt::format("\nits last lines ({} has all):\n{}", rank_log_name(rank), output.lines);
}

}  // namespace trainrt::program
