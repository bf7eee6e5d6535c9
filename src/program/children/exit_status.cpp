#include "program/children/exit_status.hpp"

#include <csignal>
#include <cstring>
#include <string_view>

#include <fmt/format.h>

namespace trainrt::program {

namespace {

/// Returns the meaning of the exit codes 126 and 127, with which shells and env(1) report a command that they could not
/// start; "" for other exit codes.
std::string_view meaning_for_shells(int exit_code) {
  if (exit_code == 127) return " (a command or its interpreter was not found)";
  return exit_code == 126 ? " (a command could not be executed)" : "";
}

}  // namespace

bool ExitStatus::is_kill() const { return signal != 0 && signal != SIGABRT; }

std::string ExitStatus::in_words() const {
  const auto why = memory.empty() ? "" : ", " + memory;
  if (signal == 0) return fmt::format("exited with {}{}{}", exit_code, meaning_for_shells(exit_code), why);
  const char* name = sigabbrev_np(signal);
  return fmt::format("was ended by {}{}", name != nullptr ? std::string("SIG") + name : fmt::format("signal {}", signal),
                     why);
}

}  // namespace trainrt::program
