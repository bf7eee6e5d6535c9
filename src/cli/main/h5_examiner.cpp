// Examines HDF5 files whose paths come on standard input, each with a NUL at its end, and answers each with a byte: for
// io/h5_guard.hpp. It ends if one takes too much time or memory, or crashes libhdf5.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <fstream>
#include <iostream>
#include <string>
#include <thread>

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/h5.hpp"
#include "io/h5_examine.hpp"
#include "io/h5_guard.hpp"

namespace {

using namespace trainrt;

std::atomic<double> deadline_s = 1e9;  // of the processor time
std::atomic<std::uint64_t> max_bytes = UINT64_MAX;

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

std::uint64_t resident_bytes() {
  std::uint64_t all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

[[noreturn]] void watch() {
  for (;; std::this_thread::sleep_for(std::chrono::milliseconds(20))) {
    if (processor_seconds() > deadline_s) _exit(io::h5_too_slow);
    if (resident_bytes() > max_bytes) _exit(io::h5_too_large);
  }
}

std::uint64_t memory_for(const std::string& path) {
  constexpr std::uint64_t least = std::uint64_t{1} << 30, times = 16;
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return least;
  return std::max(least, times * static_cast<std::uint64_t>(info.st_size));
}

}  // namespace

int main() {
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  io::h5_start();
  std::thread(watch).detach();
  for (std::string path; std::getline(std::cin, path, '\0');) {
    max_bytes = memory_for(path);
    io::h5_examine(path, [](double seconds) { deadline_s = processor_seconds() + seconds; });
    deadline_s = 1e9;
    if (write(STDOUT_FILENO, ".", 1) != 1) break;
  }
  _exit(0);
}
