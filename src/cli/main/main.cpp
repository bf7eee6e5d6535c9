#include <csignal>
#include <string>
#include <vector>

#include "cli/dispatch.hpp"
#include "io/h5.hpp"

int main(int argc, char** argv) {
  trainrt::io::h5_start();
  std::signal(SIGXFSZ,
              SIG_IGN);  // a write beyond `ulimit -f` fails then (EFBIG), and says so. Child programs have the default
  return static_cast<int>(trainrt::cli::dispatch(std::vector<std::string>(argv + 1, argv + argc)));
}
