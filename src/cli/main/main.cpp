#include <csignal>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "cli/dispatch.hpp"
#include "io/h5.hpp"

namespace {

/// A file that is opened must not become a standard stream that was closed: what is printed would land in it. What stands
/// in its place here cannot be written, so that lost output is noticed.
void occupy_standard_streams() {
  for (const int number : {0, 1, 2})
    if (fcntl(number, F_GETFD) < 0) open("/dev/null", number == 0 ? O_WRONLY : O_RDONLY);
}

}  // namespace

int main(int argc, char** argv) {
  occupy_standard_streams();
  trainrt::io::h5_start();
  std::signal(SIGXFSZ,
              SIG_IGN);  // a write beyond `ulimit -f` fails then (EFBIG), and says so. Child programs have the default
  const auto code = static_cast<int>(trainrt::cli::dispatch(std::vector<std::string>(argv + 1, argv + argc)));
  if (!trainrt::io::h5_has_failed_close()) return code;
  std::fflush(nullptr);
  std::cout.flush();
  _exit(code);
}
