#include <csignal>
#include <string>
#include <vector>

#include <fcntl.h>

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
  return static_cast<int>(trainrt::cli::dispatch(std::vector<std::string>(argv + 1, argv + argc)));
}
