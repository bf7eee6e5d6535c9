#include "cli/words/dispatch.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ranges>
#include <system_error>

#include <fmt/format.h>

#include "cli/words/command.hpp"
#include "cli/words/help.hpp"
#include "cli/words/parts.hpp"
#include "core/environment.hpp"
#include "core/output/log.hpp"
#include "core/version.hpp"
#include "launch/launcher.hpp"
#include "trainer/ending/advice.hpp"
#include "watch/thrown.hpp"

namespace trainrt::cli {

namespace {

/// `number`: errno, 0 if it is not known any more.
std::string output_lost(int number) {
  const auto what = "the output could not be written" + (number != 0 ? std::string(": ") + std::strerror(number) : "");
  if (number == EPIPE) return what + "; the program that reads it ended before everything was printed";
  return what + "; send it to a terminal, or to a file that can be written";
}

/// Output that nobody reads any more is then an error, as output that a full disk cannot take. A handler, and not SIG_IGN:
/// programs that are started get the default action again.
void outlive_broken_pipes() {
  struct sigaction now {};
  if (sigaction(SIGPIPE, nullptr, &now) != 0 || now.sa_handler != SIG_DFL) return;
  now.sa_handler = [](int) {};
  now.sa_flags = SA_RESTART;
  sigaction(SIGPIPE, &now, nullptr);
}

bool is_help(const std::string& word) { return word == "--help" || word == "-h"; }

/// How a command ended, and whether its output is what it was called for.
struct Done {
  ExitCode code;
  bool output_is_result = true;
  int output_error = 0;  ///< errno
};

/// Adds what the user can do to an error's message; that depends on what the command writes.
using Explain = std::string (*)(const std::exception&);

Done run_command(std::vector<std::string>& words, Explain& explain) {
  if (words.empty() || is_help(words[0])) {
    fmt::print("{}", general_help());
    return {words.empty() ? ExitCode::usage : ExitCode::finished};
  }
  if (words[0] == "--version") {
    fmt::print("trainrt {}\n{}", version, parts_text());
    return {ExitCode::finished};
  }
  std::string name = "run";
  if (!words[0].starts_with("-")) {
    name = words[0];
    words.erase(words.begin());
  }
  const auto& command = find_plugin(command_table(), name, "command");
  if (command.writes_run) explain = trainer::with_advice;
  const auto ours = std::ranges::subrange(words.begin(), std::ranges::find(words, "--"));  // the rest is a program's
  if (std::ranges::any_of(ours, is_help)) {
    fmt::print("{}", help_of(command));
    return {ExitCode::finished};
  }
  return {command.run(words), command.output_is_result};
}

Done run_and_report(std::vector<std::string>& words) {
  Explain explain = trainer::with_output_advice;
  try {
    return run_command(words, explain);
  } catch (const Error& error) {
    // Commands other than run know no ranks: in a step of many, one of them speaks.
    if (launch::claimed_rank(Environment::of_process()) == 0) log::error(explain(error));
    return {error.code()};
  } catch (const std::system_error& error) {
    if (std::ferror(stdout) != 0) return {ExitCode::failed, true, error.code().value()};
    log::error(explain(error));
  } catch (const std::exception& error) {
    log::error(explain(error));
  } catch (...) {
    log::error(
        fmt::format("unexpected exception ({}): a library threw something that is no std::exception. Report this "
                    "line with the command",
                    watch::thrown_type()));
  }
  return {ExitCode::failed};
}

}  // namespace

ExitCode dispatch(std::vector<std::string> words) {
  outlive_broken_pipes();
  const auto done = run_and_report(words);
  const bool lost = std::fflush(stdout) != 0;
  if (!lost && std::ferror(stdout) == 0) return done.code;
  const auto text = output_lost(lost && done.output_error == 0 ? errno : done.output_error);
  if (!done.output_is_result) {
    log::warning(text);
    return done.code;
  }
  log::error(text);
  return done.code == ExitCode::finished ? ExitCode::failed : done.code;
}

}  // namespace trainrt::cli
