#include "metrics/append_file.hpp"

#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/uninterrupted.hpp"

namespace trainrt::metrics {

namespace {

/// Takes the part of a line off again that a full disk let through, so that the next line does not run into it.
void take_back(int fd, ssize_t bytes) {
  struct stat status {};
  if (::fstat(fd, &status) == 0 && status.st_size >= bytes)
    if (::ftruncate(fd, status.st_size - bytes) != 0) return;  // readers know torn lines
}

}  // namespace

AppendFile::AppendFile(const std::string& path)
    : path_(path), fd_(io::uninterrupted([&] { return ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC); })) {
  if (fd_.get() < 0) io::fail("open for appending", path_, errno);
}

void AppendFile::append(std::string_view bytes) {
  const auto written = io::uninterrupted([&] { return ::write(fd_.get(), bytes.data(), bytes.size()); });
  if (written == static_cast<ssize_t>(bytes.size())) return;
  const int error_number = written < 0 ? errno : ENOSPC;
  if (written > 0) take_back(fd_.get(), written);
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
