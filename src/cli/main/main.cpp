#include <csignal>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "cli/command_line/dispatch.hpp"
#include "core/process/ignored_signal.hpp"
#include "io/hdf5/h5.hpp"

namespace {

/// Opens /dev/null in place of closed standard streams. A file that is opened later would otherwise get the number of a
/// closed stream, and receive the output that is meant for the stream. Output streams are opened for reading only, so
/// that lost output is reported as an error.
void occupy_standard_streams() {
  for (const int number : {0, 1, 2})
    if (fcntl(number, F_GETFD) < 0) open("/dev/null", number == 0 ? O_WRONLY : O_RDONLY);
}

/// Bit N is set if signal N was ignored when this program was started.
unsigned ignored_at_start = 0;
constexpr int last_signal = 31;

void note_ignored_signals() {
  for (int number = 1; number <= last_signal; ++number)
    if (trainrt::is_signal_ignored(number)) ignored_at_start |= 1U << number;
}

/// Makes note_ignored_signals() run before the initializers of shared libraries, because these may install signal
/// handlers. For example, a preloaded UCX installs one for SIGHUP.
[[gnu::section(".preinit_array"), gnu::used]] void (*const before_libraries)() = note_ignored_signals;

/// Continues to ignore the signals that were ignored when this program was started (nohup). SIGCHLD is an exception,
/// because waitpid() does not work while it is ignored.
void set_signals() {
  for (int number = 1; number <= last_signal; ++number)
    if ((ignored_at_start & 1U << number) != 0) std::signal(number, number == SIGCHLD ? SIG_DFL : SIG_IGN);
  trainrt::ignore_signal_here(SIGXFSZ);  // a write beyond `ulimit -f` then fails with EFBIG, which is reported
}

}  // namespace

int main(int argc, char** argv) {
  occupy_standard_streams();
  set_signals();
  trainrt::io::h5_start();
  const auto code = static_cast<int>(trainrt::cli::dispatch(std::vector<std::string>(argv + 1, argv + argc)));
  if (!trainrt::io::h5_has_failed_close()) return code;
  std::fflush(nullptr);
  std::cout.flush();
  _exit(code);
}
