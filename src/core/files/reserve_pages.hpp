#pragma once
#include <cstddef>

namespace trainrt {

/// Allocates the pages of a part of a file in memory (memfd_create(2)), so that a later access to them cannot fail
/// (SIGBUS). The content does not change. Returns 0 or an error number.
int reserve_pages(int fd, std::size_t offset, std::size_t bytes);

}  // namespace trainrt
