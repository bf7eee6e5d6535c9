#pragma once
#include <cstddef>

#include "core/descriptor.hpp"

namespace trainrt::program {

/// Memory that a program shares with its rank: a memfd of the program, mapped into the process of the rank. The program
/// must have sealed the memfd against shrinking, since an access beyond the end of a shrunk file raises SIGBUS.
class SharedMemory {
 public:
  SharedMemory() = default;
  /// Maps the first `bytes` bytes of `file`. Throws UsageError if `file` is not a memfd with F_SEAL_SHRINK and at least
  /// `bytes` bytes.
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
