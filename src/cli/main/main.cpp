#include <cstdlib>
#include <string>
#include <vector>

#include "cli/dispatch.hpp"

int main(int argc, char** argv) {
  // HDF5 locks files with flock, which not every parallel file system has; our commits do not rely on locks. Before HDF5 starts.
  setenv("HDF5_USE_FILE_LOCKING", "FALSE", 0);
  return static_cast<int>(trainrt::cli::dispatch(std::vector<std::string>(argv + 1, argv + argc)));
}
