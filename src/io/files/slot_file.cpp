#include "io/files/slot_file.hpp"

#include <fcntl.h>

#include "io/storage_error.hpp"

namespace trainrt::io {

void SlotFile::open() {
  // O_NONBLOCK: otherwise, open(2) of a named pipe would wait for a reader.
  Descriptor opened(open_guarded(path_, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK));
  if (opened.get() < 0) fail("open", path_, errno);
  if (!S_ISREG(status_of(opened.get(), path_).st_mode)) fail("write", path_, EINVAL);
  fd_.emplace(std::move(opened));
}

void SlotFile::write(std::uint64_t offset, std::string_view bytes) try {
  if (!fd_) open();
  write_at(fd_->get(), offset, std::as_bytes(std::span(bytes)), path_);
} catch (...) {
  fd_.reset();
  throw;
}

}  // namespace trainrt::io
