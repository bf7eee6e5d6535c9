#include "core/files/reserve_pages.hpp"

#include <cerrno>

#include <fcntl.h>

namespace trainrt {

int reserve_pages(int fd, std::size_t offset, std::size_t bytes) {
  if (bytes == 0) return 0;
  while (fallocate(fd, 0, static_cast<off_t>(offset), static_cast<off_t>(bytes)) != 0)
    if (errno != EINTR) return errno;
  return 0;
}

}  // namespace trainrt
