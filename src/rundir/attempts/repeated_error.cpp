#include "rundir/attempts/repeated_error.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/text/text.hpp"
#include "rundir/attempts/attempt_files.hpp"
#include "rundir/attempts/progress.hpp"
#include "rundir/records/point_words.hpp"

namespace trainrt::rundir {

namespace {

constexpr std::array<std::string_view, 15> exceptions = {
    "ArithmeticError", "AssertionError", "AttributeError", "ImportError",       "IndexError",
    "KeyError",        "LookupError",    "NameError",      "OverflowError",     "NotImplementedError",
    "RecursionError",  "TypeError",      "ValueError",     "ZeroDivisionError", "UnboundLocalError"};

/// The beginnings of errors that the runtime reports for wrong calls of the train function.
constexpr std::array<std::string_view, 3> wrong_calls = {"report(): the metric '", "the ranks do not make the same call",
                                                         "State differs between the ranks"};

/// Returns the part of `text` after the first `mark`; "" if `text` does not contain `mark`.
std::string after(const std::string& text, std::string_view mark) {
  const auto at = text.find(mark);
  return at == std::string::npos ? "" : text.substr(at + mark.size());
}

/// Returns the exception in the message of a program that has failed: "TypeError: ...".
std::string exception_in(const std::string& message) {
  auto exception = after(message, ") failed: ");
  for (const auto* const rest : {"; the program of ", "; the programs of ", "; rank ", "; ranks "})
    exception = exception.substr(0, exception.find(rest));
  const auto type = exception.substr(0, exception.find(':'));
  return std::ranges::find(exceptions, type) != exceptions.end() ? exception : "";
}

}  // namespace

std::string mistake_in(const std::string& why) {
  auto message = first_line(why);
  if (!message.starts_with("failed: ")) return {};
  message = after(message, "failed: ");
  if (message.starts_with("the program of rank ")) return exception_in(message);
  if (message.starts_with("rank ")) message = after(message, "): ");  // "rank 0 on n1 failed at step 3 (attempt 1): "
  const auto begins = [&](std::string_view text) { return message.starts_with(text); };
  return std::ranges::any_of(wrong_calls, begins) ? message : "";
}

bool repeats_mistake(std::span<const AttemptRecord> attempts) {
  if (attempts.size() < 2) return false;
  const auto& before = attempts[attempts.size() - 2];
  const auto& now = attempts.back();
  constexpr int failed = static_cast<int>(ExitCode::failed);
  const auto mistake = mistake_in(now.why);
  return !mistake.empty() && mistake == mistake_in(before.why) && now.exit_code == failed && before.exit_code == failed &&
         now.last_step == before.last_step && now.iteration == before.iteration &&
         now.saved_checkpoint == before.saved_checkpoint && now.saved_step == before.saved_step;
}

std::string repeated_mistake(const std::string& run_dir) noexcept try {
  const auto attempts = read_attempts(run_dir, 2);
  if (!repeats_mistake(attempts)) return {};
  const auto& last = attempts.back();
  return fmt::format("at {}: {}", short_point(last.last_step, last.iteration), mistake_in(last.why));
} catch (const std::exception&) {
  return {};
}

}  // namespace trainrt::rundir
