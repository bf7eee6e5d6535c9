// Examines the HDF5 files that are named on its standard input; io/hdf5/untrusted/h5_guard.hpp defines the protocol. Exits
// if a file takes too much time or memory, or crashes libhdf5.
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
#include "io/hdf5/untrusted/h5_guard.hpp"
#include "io/hdf5/untrusted/h5_watched_file.hpp"

namespace {

using namespace trainrt;

std::atomic<double> deadline_s = 1e9;  // processor time of this process, in seconds, at which it exits
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

/// Returns the maximum memory in bytes for the examination of a file of `file_bytes` bytes (h5_guard.hpp), but at most half
/// of the available memory, which other processes also use.
std::uint64_t memory_for(std::uint64_t file_bytes) {
  constexpr std::uint64_t min_bytes = std::uint64_t{1} << 30, times = 16;
  return std::min(std::max(min_bytes, times * file_bytes), available_memory() / 2);
}

/// Requests bytes of the examined object from trainrt. `size` is the size of the object. Bytes beyond its end are
/// filled with zeros.
void read_object(std::uint64_t size, std::uint64_t offset, std::span<std::byte> into) {
  constexpr std::uint64_t max_bytes_per_request = 1 << 20;
  std::ranges::fill(into, std::byte{0});
  while (!into.empty() && offset < size) {
    io::H5BytesRequest request;
    request.offset = offset;
    request.bytes = std::min({max_bytes_per_request, size - offset, static_cast<std::uint64_t>(into.size())});
    if (write(STDOUT_FILENO, &request, sizeof request) != static_cast<ssize_t>(sizeof request)) _exit(1);
    if (!std::cin.read(reinterpret_cast<char*>(into.data()), static_cast<std::streamsize>(request.bytes))) _exit(1);
    offset += request.bytes;
    into = into.subspan(request.bytes);
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
  // When libhdf5 reads a damaged file, it may free pointers that were never set. M_PERTURB fills new memory with a
  // pattern, so that such a free() always crashes this process; otherwise it might crash only in trainrt.
  mallopt(M_PERTURB, 0x55);
  io::h5_start();
  std::thread(watch).detach();
  for (io::H5ExamineRequest request; std::cin.read(reinterpret_cast<char*>(&request), sizeof request);) {
    std::string path(request.path_bytes, '\0');
    if (!std::cin.read(path.data(), static_cast<std::streamsize>(path.size()))) break;
    examine(path, request.object_bytes);
    if (write(STDOUT_FILENO, ".", 1) != 1) break;
  }
  _exit(0);
}
