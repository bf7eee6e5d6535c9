#include "io/files/descriptor.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <trainrt/error.hpp>

#include "io/storage_error.hpp"

namespace trainrt::io {

int link_status(const std::string& path, struct stat& status) {
  return at_entry(
      path, [&](int directory, const char* name) { return ::fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW); });
}

struct stat status_of(int fd, const std::string& path) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) fail("read the status of", path, errno);
  return status;
}

std::uint64_t size_of_regular_file(int fd, const std::string& path) {
  const auto status = status_of(fd, path);
  if (!S_ISREG(status.st_mode)) throw Error("cannot use '" + path + "': it is not a regular file");
  return static_cast<std::uint64_t>(status.st_size);
}

std::size_t read_at(int fd, std::uint64_t offset, std::span<std::byte> into, const std::string& path) {
  std::size_t done = 0;
  while (done < into.size()) {
    const auto size = std::min(into.size() - done, bytes_per_call);
    const auto count =
        uninterrupted([&] { return ::pread(fd, into.data() + done, size, static_cast<off_t>(offset + done)); });
    if (count < 0) fail_at("read", offset + done, path, errno);
    if (count == 0) break;
    done += static_cast<std::size_t>(count);
  }
  return done;
}

void write_at(int fd, std::uint64_t offset, std::span<const std::byte> bytes, const std::string& path) {
  while (!bytes.empty()) {
    const auto size = std::min(bytes.size(), bytes_per_call);
    const auto count = uninterrupted([&] { return ::pwrite(fd, bytes.data(), size, static_cast<off_t>(offset)); });
    if (count <= 0) fail_at("write", offset, path, count < 0 ? errno : ENOSPC);
    offset += static_cast<std::uint64_t>(count);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

void fail_at(std::string_view operation, std::uint64_t offset, const std::string& path, int error_number) {
  fail(fmt::format("{} at byte {} of", operation, offset), path, error_number);
}

void sync_file(int fd, const std::string& path) {
  if (uninterrupted([&] { return ::fsync(fd); }) != 0) fail("make durable (fsync)", path, errno);
}

}  // namespace trainrt::io
