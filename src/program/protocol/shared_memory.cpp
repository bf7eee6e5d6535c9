#include "program/protocol/shared_memory.hpp"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <trainrt/error.hpp>

namespace trainrt::program {

SharedMemory::SharedMemory(const Descriptor& file, std::size_t bytes) : size_(bytes) {
  struct stat status {};
  const int seals = file ? fcntl(file.get(), F_GET_SEALS) : -1;
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0 || fstat(file.get(), &status) != 0 ||
      static_cast<std::size_t>(status.st_size) < bytes)
    throw UsageError(fmt::format(
        "train.program: the message must carry a memfd of at least {} bytes that is sealed with F_SEAL_SHRINK", bytes));
  if (bytes == 0) return;
  void* data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (data == MAP_FAILED)
    throw Error(fmt::format("train.program: cannot map {} bytes of the program's memory: {}", bytes, std::strerror(errno)));
  data_ = static_cast<std::byte*>(data);
}

SharedMemory::~SharedMemory() {
  if (data_ != nullptr) munmap(data_, size_);
}

SharedMemory::SharedMemory(SharedMemory&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

SharedMemory& SharedMemory::operator=(SharedMemory&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

}  // namespace trainrt::program
