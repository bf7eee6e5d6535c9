#pragma once
#include <cstddef>

#include "core/descriptor.hpp"

namespace trainrt::program {

/// Memory that a program shares: a memfd of its own, mapped here. It may not shrink under our hands, which would be a
/// SIGBUS: the program has sealed it.
class SharedMemory {
 public:
  SharedMemory() = default;
  /// UsageError if `file` is no memfd of at least so many bytes with F_SEAL_SHRINK.
  SharedMemory(const Descriptor& file, std::size_t bytes);
  ~SharedMemory();
  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&& other) noexcept;

  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace trainrt::program
