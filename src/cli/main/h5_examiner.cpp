// Examines HDF5 files that are named on standard input, as io/hdf5/untrusted/h5_guard.hpp asks. It ends if one takes too
// much time or memory, or crashes libhdf5.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <fstream>
#include <iostream>
#include <span>
#include <string>
#include <thread>

#include <malloc.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/process/memory.hpp"
#include "io/hdf5/h5.hpp"
#include "io/hdf5/untrusted/h5_examine.hpp"
#include "io/hdf5/untrusted/h5_guard.hpp"
#include "io/hdf5/untrusted/h5_watched_file.hpp"

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

/// As h5_guard.hpp says, and no more than half of what is left: others use it, too.
std::uint64_t memory_for(std::uint64_t file_bytes) {
  constexpr std::uint64_t least = std::uint64_t{1} << 30, times = 16;
  return std::min(std::max(least, times * file_bytes), available_memory() / 2);
}

/// Bytes of the object in hand, which the other side reads.
void read_object(std::uint64_t size, std::uint64_t offset, std::span<std::byte> into) {
  constexpr std::uint64_t most = 1 << 20;
  std::ranges::fill(into, std::byte{0});  // behind the end
  while (!into.empty() && offset < size) {
    io::H5Wanted wanted;
    wanted.offset = offset;
    wanted.bytes = std::min({most, size - offset, static_cast<std::uint64_t>(into.size())});
    if (write(STDOUT_FILENO, &wanted, sizeof wanted) != static_cast<ssize_t>(sizeof wanted)) _exit(1);
    if (!std::cin.read(reinterpret_cast<char*>(into.data()), static_cast<std::streamsize>(wanted.bytes))) _exit(1);
    offset += wanted.bytes;
    into = into.subspan(wanted.bytes);
  }
}

void examine(const std::string& path, std::uint64_t object_bytes) {
  const auto allow = [](double seconds) { deadline_s = processor_seconds() + seconds; };
  const io::H5Bytes object{object_bytes, [object_bytes](std::uint64_t offset, std::span<std::byte> into) {
                             read_object(object_bytes, offset, into);
                           }};
  struct stat info {};
  const auto size = stat(path.c_str(), &info) == 0 ? static_cast<std::uint64_t>(info.st_size) : 0;
  max_bytes = memory_for(std::max(size, object_bytes));
  io::h5_examine([&] { return object_bytes > 0 ? io::h5_open_watched(path, object) : io::h5_open_watched(path); }, allow);
  deadline_s = 1e9;
}

}  // namespace

int main() {
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  // libhdf5 may free pointers of a damaged file that it has not set. With filled memory that crashes here; in the process
  // that asks, it would depend on what the memory held before.
  mallopt(M_PERTURB, 0x55);
  io::h5_start();
  std::thread(watch).detach();
  for (io::H5Examined file; std::cin.read(reinterpret_cast<char*>(&file), sizeof file);) {
    std::string path(file.path_bytes, '\0');
    if (!std::cin.read(path.data(), static_cast<std::streamsize>(path.size()))) break;
    examine(path, file.object_bytes);
    if (write(STDOUT_FILENO, ".", 1) != 1) break;
  }
  _exit(0);
}
