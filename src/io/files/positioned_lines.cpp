#include "io/files/positioned_lines.hpp"

#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/files/uninterrupted.hpp"

namespace trainrt::io {

/// Without O_NONBLOCK a FIFO in its place would hold the caller until somebody reads.
void PositionedLines::open() {
  Descriptor opened(open_retrying(path_, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK));
  if (opened.get() < 0) fail("open", path_, errno);
  struct stat found {};
  if (fstat(opened.get(), &found) != 0) fail("look at", path_, errno);
  if (!S_ISREG(found.st_mode)) fail("write", path_, EINVAL);
  fd_.emplace(std::move(opened));
}

void PositionedLines::write(std::uint64_t offset, std::string_view bytes) {
  if (!fd_) open();
  while (!bytes.empty()) {
    const auto written =
        uninterrupted([&] { return pwrite(fd_->get(), bytes.data(), bytes.size(), static_cast<off_t>(offset)); });
    if (written <= 0) {
      const int reason = written < 0 ? errno : ENOSPC;
      fd_.reset();
      fail("write", path_, reason);
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
    offset += static_cast<std::uint64_t>(written);
  }
}

}  // namespace trainrt::io
