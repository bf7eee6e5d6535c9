#include "metrics/append_file.hpp"

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/files/descriptor.hpp"

namespace trainrt::metrics {

namespace {

/// Removes the last `bytes` bytes from the file: the part of a line that was written before the disk was full. Without
/// this, the next line would be appended to that part.
void remove_last(int fd, ssize_t bytes) {
  struct stat status {};
  if (::fstat(fd, &status) == 0 && status.st_size >= bytes)
    if (::ftruncate(fd, status.st_size - bytes) != 0) return;  // ignored: readers skip incomplete lines
}

}  // namespace

AppendFile::AppendFile(const std::string& path) : path_(path), fd_(open_guarded(path, O_WRONLY | O_APPEND | O_NOFOLLOW)) {
  if (fd_.get() < 0) io::fail("open for appending", path_, errno);
}

AppendFile AppendFile::replace(const io::FencedDirectory& run_dir, const std::string& name, std::string_view bytes) {
  run_dir.write_temporary(name, bytes);
  AppendFile file(
      run_dir.temporary_path(name));  // opened before the rename, after which a newer attempt may replace the file
  run_dir.publish(name);
  return file;
}

void AppendFile::append(std::string_view bytes) {
  const auto write_from = [&](std::size_t at) {
    return io::uninterrupted([&] { return ::write(fd_.get(), bytes.data() + at, bytes.size() - at); });
  };
  auto written = write_from(0);
  if (written == static_cast<ssize_t>(bytes.size())) return;
  int error_number = errno;
  if (written > 0) {  // the second write(2) writes the rest, or returns the error
    const auto rest = write_from(static_cast<std::size_t>(written));
    error_number = rest < 0 ? errno : ENOSPC;
    written += std::max<ssize_t>(rest, 0);
    if (written == static_cast<ssize_t>(bytes.size())) return;
    remove_last(fd_.get(), written);
  }
  io::fail("append to", path_, error_number);
}

void AppendFile::sync() {
  if (io::uninterrupted([&] { return ::fsync(fd_.get()); }) != 0) io::fail("sync", path_, errno);
}

void AppendFile::truncate(std::uint64_t bytes) {
  if (io::uninterrupted([&] { return ::ftruncate(fd_.get(), static_cast<off_t>(bytes)); }) != 0)
    io::fail("cut", path_, errno);
}

}  // namespace trainrt::metrics
