#pragma once
#include <cstddef>

namespace trainrt {

/// Allocates the pages of a byte range of an in-memory file (memfd_create(2)), so that later accesses to a mapping of the
/// range cannot fail with SIGBUS. Does not change the content. Returns 0, or an error number (errno).
int reserve_pages(int fd, std::size_t offset, std::size_t bytes);

}  // namespace trainrt
