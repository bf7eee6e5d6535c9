#pragma once
#include <cstddef>

#include <unistd.h>

namespace trainrt {

/// Returns the size of a page of memory in bytes: 4 KiB on x86-64; 4, 16 or 64 KiB on aarch64, depending on the kernel.
/// Offsets of mmap(2), and addresses of munmap(2) and madvise(2), must be multiples of it.
inline std::size_t page_size() {
  static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

/// Returns the smallest multiple of the page size that is at least `bytes`.
inline std::size_t round_up_to_page(std::size_t bytes) { return (bytes + page_size() - 1) / page_size() * page_size(); }

}  // namespace trainrt
