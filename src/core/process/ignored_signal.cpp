#include "core/process/ignored_signal.hpp"

#include <csignal>

namespace trainrt {

bool is_signal_ignored(int number) {
  struct sigaction action {};
  return sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

void ignore_signal_here(int number) {
  if (is_signal_ignored(number)) return;
  struct sigaction action {};
  action.sa_handler = [](int) {};
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(number, &action, nullptr);
}

}  // namespace trainrt
