#include "metrics/append_file.hpp"

#include <cerrno>
#include <cstdio>
#include <filesystem>

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

void AppendFile::rename_over(const std::string& path) {
  if (io::uninterrupted([&] { return std::rename(path_.c_str(), path.c_str()); }) != 0)
    io::fail("rename '" + path_ + "' to", path, errno);
  path_ = path;
  const auto parent = std::filesystem::path(path).parent_path().string();
  io::sync_directory(parent.empty() ? "." : parent);
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

}  // namespace trainrt::metrics
