#include "cli/command_line/dispatch.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ranges>
#include <system_error>

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include "cli/command_line/command.hpp"
#include "cli/command_line/component_versions.hpp"
#include "cli/command_line/help.hpp"
#include "core/environment.hpp"
#include "core/output/log.hpp"
#include "core/version.hpp"
#include "launch/launcher.hpp"
#include "trainer/ending/advice.hpp"
#include "watch/thrown.hpp"

namespace trainrt::cli {

namespace {

/// Returns the message for output that could not be written. `error_number` is errno, or 0 if it is unknown.
std::string lost_output_message(int error_number) {
  const auto message =
      "the output could not be written" + (error_number != 0 ? std::string(": ") + std::strerror(error_number) : "");
  if (error_number == EPIPE) return message + "; the program that reads it ended before everything was printed";
  return message + "; send it to a terminal, or to a file that can be written";
}

/// Makes output to a closed pipe fail with EPIPE instead of ending this process. Installs a handler and not SIG_IGN,
/// because programs that this process starts would inherit SIG_IGN.
void survive_broken_pipes() {
  struct sigaction current {};
  if (sigaction(SIGPIPE, nullptr, &current) != 0 || current.sa_handler != SIG_DFL) return;
  current.sa_handler = [](int) {};
  current.sa_flags = SA_RESTART;
  sigaction(SIGPIPE, &current, nullptr);
}

/// Returns whether standard output is a pipe without a reader.
bool reader_has_ended() {
  pollfd output{STDOUT_FILENO, POLLOUT, 0};
  return poll(&output, 1, 0) > 0 && (output.revents & POLLERR) != 0;
}

bool is_help(const std::string& word) { return word == "--help" || word == "-h"; }

/// Exit code of a command, and errors of its output.
struct Outcome {
  ExitCode code;
  bool output_is_result = true;  ///< Command::output_is_result
  int output_error = 0;          ///< errno of a failed write to standard output; 0 if unknown
};

/// Returns an error's message with advice. The advice depends on the kind of output of the command.
using AddAdvice = std::string (*)(const std::exception&);

Outcome run_command(std::vector<std::string>& words, AddAdvice& add_advice) {
  if (words.empty() || is_help(words[0])) {
    fmt::print("{}", general_help());
    return {words.empty() ? ExitCode::usage : ExitCode::finished};
  }
  if (words[0] == "--version") {
    fmt::print("trainrt {}\n{}", version, component_versions());
    return {ExitCode::finished};
  }
  if (words[0].starts_with("-")) words.insert(words.begin(), "run");
  // The words after -- belong to a program; a --help among them is passed to the program.
  const auto own_words = std::ranges::subrange(words.begin(), std::ranges::find(words, "--"));
  if (std::ranges::any_of(own_words, is_help)) {
    fmt::print("{}", help_of(find_command_or_tool(words)));
    return {ExitCode::finished};
  }
  const auto& command = find_command(words);
  words.erase(words.begin());
  if (command.writes_run) add_advice = trainer::with_advice;
  return {command.run(words), command.output_is_result};
}

Outcome run_and_report(std::vector<std::string>& words) {
  AddAdvice add_advice = trainer::with_output_advice;
  try {
    return run_command(words, add_advice);
  } catch (const Error& error) {
    // Most commands do not use ranks. If srun starts several processes, only one of them prints the error.
    if (launch::claimed_rank(Environment::of_process()) == 0) log::error(add_advice(error));
    return {error.code()};
  } catch (const std::system_error& error) {
    if (std::ferror(stdout) != 0) return {ExitCode::failed, true, error.code().value()};
    log::error(add_advice(error));
  } catch (const std::exception& error) {
    log::error(add_advice(error));
  } catch (...) {
    log::error(
        fmt::format("unexpected exception of type {}, which is not a std::exception. Report this line with the command",
                    watch::thrown_type()));
  }
  return {ExitCode::failed};
}

}  // namespace

ExitCode dispatch(std::vector<std::string> words) {
  survive_broken_pipes();
  const auto outcome = run_and_report(words);
  const bool lost = std::fflush(stdout) != 0;
  if (!lost && std::ferror(stdout) == 0) return outcome.code;
  int error_number = lost && outcome.output_error == 0 ? errno : outcome.output_error;
  // A flush inside the command may have failed with EPIPE, and the errno of that flush is not available here.
  if (error_number == 0 && reader_has_ended()) error_number = EPIPE;
  const auto text = lost_output_message(error_number);
  if (!outcome.output_is_result) {
    log::warning(text);
    return outcome.code;
  }
  if (error_number != EPIPE) log::error(text);  // the reader of a pipe, such as head, needs no more, so nothing is printed
  return outcome.code == ExitCode::finished ? ExitCode::failed : outcome.code;
}

}  // namespace trainrt::cli
