#include "frameworks/program/ending.hpp"

#include <csignal>
#include <cstring>

#include <fmt/format.h>

namespace trainrt::program {

bool Ending::is_kill() const { return signal != 0 && signal != SIGABRT; }

std::string Ending::in_words() const {
  const auto why = memory.empty() ? "" : ", " + memory;
  if (signal == 0) return fmt::format("exited with {}{}", exit_code, why);
  const char* name = sigabbrev_np(signal);
  return fmt::format("was ended by {}{}", name != nullptr ? std::string("SIG") + name : fmt::format("signal {}", signal),
                     why);
}

}  // namespace trainrt::program
