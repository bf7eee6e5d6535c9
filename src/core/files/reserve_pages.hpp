#pragma once
#include <cstddef>

namespace trainrt {

/// Takes the pages of these bytes of a file in memory (memfd_create(2)), so that no touch of them can fail later (SIGBUS).
/// What stands there stays. Returns 0, or the number of the error.
int reserve_pages(int fd, std::size_t offset, std::size_t bytes);

}  // namespace trainrt
